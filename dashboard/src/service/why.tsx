// "Why not elsewhere": each host that was considered for a VM, with the check that decided.
import { useMemo } from 'preact/hooks';
import type { Host } from './data';
import { byCheck, checkTitle, stagesText, type CheckGroup, type Explained } from './explain';
import { HostLink } from './navigation';
import { Missing, useOnce, useReply } from './store';
import { count } from './words';

const SHOWN = 40; // hosts of a group; those are plenty to read

function Group({ g, names, open }: { g: CheckGroup; names: Map<string, string>; open: boolean }) {
  const alike = g.hosts.every((c) => c.text === g.hosts[0]?.text);
  return (
    <details open={open} class="card">
      <summary>
        <b>{checkTitle(g)}</b> <span class="soft">{g.verdict === 'current' ? '' : count(g.hosts.length, 'host')}</span>
      </summary>
      {alike && <p>{g.hosts[0]?.text}</p>}
      <ul class={alike ? 'names' : 'plain'}>
        {g.hosts.slice(0, SHOWN).map((c) => (
          <li key={c.host}>
            <HostLink id={c.host} name={names.get(c.host) ?? c.host} />
            {!alike && <span class="soft"> {c.text}</span>}
          </li>
        ))}
      </ul>
      {g.hosts.length > SHOWN && <p class="soft">and {g.hosts.length - SHOWN} more hosts</p>}
    </details>
  );
}

export function Why({ vm }: { vm: string }) {
  const { data, problem, again, asking } = useOnce<Explained>(`/vms/${encodeURIComponent(vm)}/explain`);
  const hosts = useReply<{ hosts: Host[] }>('/hosts?limit=10000', 60000);
  const names = useMemo(() => new Map((hosts.data?.hosts ?? []).map((h) => [h.id, h.name])), [hosts.data]);
  const groups = useMemo(() => byCheck(data?.candidates ?? []), [data]);
  return (
    <>
      {!data && asking && <p class="soft" role="status">The service looks at each host ...</p>}
      {!asking && <Missing data={data} problem={problem} />}
      {data && <p>{data.summary ?? 'The VM stays where it is.'}</p>}
      {data?.stages && <p class="soft">Hosts left after each stage of its pipeline: {stagesText(data.stages)}.</p>}
      {groups.map((g, i) => <Group key={`${g.verdict} ${g.check} ${g.stage ?? ''}`} g={g} names={names} open={i < 3} />)}
      {(data || problem) && <p class="buttons"><button disabled={asking} onClick={again}>Ask again</button></p>}
    </>
  );
}
