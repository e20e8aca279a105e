// The first page: is all well, what waits for a person, and how evenly the hosts are loaded.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart';
import type { Curve } from '../charts/curves';
import { Bar, type Aim } from './bars';
import type { Host, Pass, Recommendations, Status } from './data';
import { List } from './list';
import { awake, fullestFirst, mean } from './loads';
import { Missing, useNow, useReply, useSession } from './store';
import { actionTitle, ago, count, isInFlight, progressWords, troubles } from './words';

const HOST_ROW = 44;
const PASSES_MAX = 2000;

interface PassPoint {
  t: number;
  imbalance: number | null;
  target: number | null;
}

/** The passes that were seen since the page was opened, by session: the API does not give those before. */
const seen = new WeakMap<object, Map<number, PassPoint>>();

function notePass(session: object, pass: Pass | null): PassPoint[] {
  const passes = seen.get(session) ?? new Map<number, PassPoint>();
  seen.set(session, passes);
  if (pass && pass.time !== null) passes.set(pass.id, { t: Date.parse(pass.time) / 1000, imbalance: pass.imbalance, target: pass.target });
  if (passes.size > PASSES_MAX) passes.delete(passes.keys().next().value as number);
  return [...passes.values()];
}

function Imbalance({ pass }: { pass: Pass | null }) {
  const { client } = useSession();
  const points = useMemo(() => notePass(client, pass), [client, pass?.id]);
  const { curves, axis } = useMemo(() => {
    const start = points[0]?.t ?? 0;
    const t = points.map((p) => p.t - start);
    const list: Curve[] = [
      { name: 'imbalance', kind: 'steps', style: 0, points: { t, v: points.map((p) => p.imbalance) } },
      { name: 'target', kind: 'dashed', style: 1, points: { t, v: points.map((p) => p.target) } },
    ];
    return { curves: list, axis: { start, from: 0, to: Math.max(60, t[t.length - 1] ?? 0) } };
  }, [points]);
  if (points.length < 2) return <p class="soft">Its course is drawn here from the second pass on that comes while this page is open.</p>;
  return <Chart title="Imbalance of the cluster" about="At each pass since this page was opened. Below the target nothing is moved for balance." axis={axis} curves={curves} low={0} />;
}

function Tile({ what, value, note, bad }: { what: string; value: string; note: string; bad?: boolean }) {
  return (
    <li class={bad ? 'bad' : ''}>
      {what}
      <b>{value}</b>
      <small>{note}</small>
    </li>
  );
}

function four(v: number | null | undefined): string {
  return v === null || v === undefined ? '-' : v.toFixed(4);
}

function Tiles({ s, now }: { s: Status; now: number }) {
  const waits = s.actions.recommended ?? 0;
  const flying = (s.actions.approved ?? 0) + (s.actions.starting ?? 0) + (s.actions.running ?? 0) + (s.actions.verifying ?? 0);
  const p = s.pass;
  const uneven = p !== null && p.imbalance !== null && p.target !== null && p.imbalance > p.target;
  return (
    <ul class="tiles">
      <Tile what="Imbalance" value={four(p?.imbalance)} note={p === null ? 'no pass yet' : `target ${four(p.target)}${uneven ? ', above it' : ''}; CPU ${four(p.imbalance_cpu)}, memory ${four(p.imbalance_mem)}`} />
      <Tile what="Waiting for a decision" value={String(waits)} note={waits === 0 ? 'nothing' : `automation: ${s.automation}`} />
      <Tile what="In progress" value={String(flying)} note={s.frozen ? 'paused' : flying === 0 ? 'nothing' : 'approved or running'} bad={s.frozen} />
      <Tile what="Asleep" value={String(s.asleep.length)} note={`of ${count(s.hosts, 'host')}`} />
      <Tile what="Faults" value={String(s.faults.length)} note={s.faults.length === 0 ? 'none' : 'listed below'} bad={s.faults.length > 0} />
      <Tile what="Last pass" value={p === null ? '-' : `# ${p.id}`} note={p === null ? '' : ago(p.time, now)} />
    </ul>
  );
}

function HostRow({ h, cpu, mem }: { h: Host; cpu: Aim | null; mem: Aim | null }) {
  return (
    <div class="host">
      <span class="host-name">{h.name}</span>
      <Bar label="CPU" load={h.cpu.load} aim={cpu} />
      <Bar label="Memory" load={h.mem.load} aim={mem} />
    </div>
  );
}

function Hosts({ target }: { target: number | null }) {
  const { data, problem } = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const rows = useMemo(() => fullestFirst(awake(data?.hosts ?? [])), [data]);
  const [cpu, mem] = useMemo(() => {
    const c = mean(rows.map((h) => h.cpu.load));
    const m = mean(rows.map((h) => h.mem.load));
    return [c === null ? null : { mean: c, target }, m === null ? null : { mean: m, target }];
  }, [rows, target]);
  return (
    <section>
      <h2>Hosts</h2>
      <p class="soft">
        Load: entitlement of the VMs by capacity. The line is the mean of all hosts; the band reaches one target imbalance (a standard
        deviation) to each side of it. The fullest hosts come first.
      </p>
      <Missing data={data} problem={problem} />
      {data && rows.length === 0 && <p>No host is on.</p>}
      <List rows={rows} keyOf={(h) => h.id} draw={(h) => <HostRow h={h} cpu={cpu ?? null} mem={mem ?? null} />} estimate={HOST_ROW} label="Hosts, the fullest first" />
    </section>
  );
}

const SHOWN = 5;

function Waiting({ now }: { now: number }) {
  const { data, problem } = useReply<Recommendations>('/recommendations?limit=10000');
  const all = data?.recommendations ?? [];
  const waits = all.filter((a) => a.state === 'recommended');
  const flying = all.filter(isInFlight);
  return (
    <section>
      <h2>Waiting for a person</h2>
      <Missing data={data} problem={problem} />
      {data && waits.length === 0 && <p>No recommendation waits for a decision.</p>}
      <ul class="plain">
        {waits.slice(0, SHOWN).map((a) => (
          <li key={a.id}>
            <b>{actionTitle(a)}</b> <span class="soft">{a.text ?? a.reason}</span>
          </li>
        ))}
      </ul>
      {waits.length > 0 && <p><a href="#/recommendations">{waits.length > SHOWN ? `All ${waits.length} recommendations` : 'Decide on them'}</a></p>}
      {flying.length > 0 && (
        <>
          <h3>In progress</h3>
          <ul class="plain">
            {flying.slice(0, SHOWN).map((a) => (
              <li key={a.id}>
                <b>{actionTitle(a)}</b> <span class="soft">{progressWords(a, now)}</span>
              </li>
            ))}
          </ul>
          {flying.length > SHOWN && <p><a href="#/recommendations">All {flying.length} actions</a></p>}
        </>
      )}
    </section>
  );
}

export function Overview() {
  const { data, problem } = useReply<{ status: Status }>('/status', 2000);
  const now = useNow();
  const s = data?.status;
  const [faultsAll, showAll] = useState(false);
  useEffect(() => {
    if (s) document.title = `${s.cluster} - Ballast`;
  }, [s?.cluster]);
  if (!s) return <Missing data={data} problem={problem} />;
  const faults = faultsAll ? s.faults : s.faults.slice(0, 4 * SHOWN);
  return (
    <>
      <Missing data={data} problem={problem} />
      <p class="soft">
        Cluster {s.cluster}: {count(s.hosts, 'host')}, {count(s.vms, 'VM')}. Automation: {s.automation}. Ballast {s.version}.
      </p>
      {troubles(s).map((text) => <p class="problem" role="alert" key={text}>{text}</p>)}
      <Tiles s={s} now={now} />
      <div class="pair">
        <Waiting now={now} />
        <section>
          <h2>Faults</h2>
          {s.faults.length === 0 && <p>The last pass found none.</p>}
          <ul class="plain">{faults.map((f, i) => <li key={i}>{f.text}</li>)}</ul>
          {faults.length < s.faults.length && <button onClick={() => showAll(true)}>Show all {s.faults.length}</button>}
          <h2>Asleep</h2>
          {s.asleep.length === 0 && <p>No host is in standby.</p>}
          <ul class="plain">
            {s.asleep.slice(0, 4 * SHOWN).map((h) => (
              <li key={h.host}>
                <b>{h.host_name}</b> <span class="soft">since {ago(h.since, now)}{h.by_ballast ? '' : ', not by Ballast'}{h.wake_failed ? '; its last wake failed' : ''}</span>
              </li>
            ))}
          </ul>
          {s.asleep.length > 4 * SHOWN && <p><a href="#/hosts">All {s.asleep.length} hosts in standby</a></p>}
          {s.night && <p class="soft">{s.night.text}</p>}
        </section>
      </div>
      <section>
        <h2>Imbalance</h2>
        {s.pass?.end.text && <p>Why the last pass recommends no more moves for balance: {s.pass.end.text}.</p>}
        <Imbalance pass={s.pass} />
      </section>
      <Hosts target={s.pass?.target ?? null} />
    </>
  );
}
