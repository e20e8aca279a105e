// A host: its load, its VMs, how it can be woken, and what was done with it.
import { useMemo, useState } from 'preact/hooks';
import type { Address } from './address';
import { Bar } from './bars';
import type { Host, Recommendations, Status } from './data';
import { Course } from './course';
import { byHost, HostProgress, useHostChanges } from './host_changes';
import { ItemActions, ItemFaults } from './item_parts';
import { Title } from './navigation';
import { Ago, Facts, RESOURCES, Tile } from './parts';
import { Missing, useNow, useReply } from './store';
import { Vms } from './use_vms';
import type { VmQuery } from './vm_table';
import { ago, automationWords, count, mhz, mib, proofWords, stateWords } from './words';
import { duration, figure } from '../charts/format';

function Loads({ h }: { h: Host }) {
  return (
    <ul class="tiles">
      {RESOURCES.map((r) => {
        const l = h[r.key];
        const lacks = l.demand !== null && l.entitlement !== null && l.entitlement < 0.995 * l.demand;
        return (
          <li key={r.key} class={lacks ? 'bad' : ''}>
            <Bar label={r.name} load={l.load} aim={null} />
            <small>
              {r.text(l.entitlement)} of {r.text(l.capacity)} {lacks ? `; its VMs ask for ${r.text(l.demand)}` : 'is what its VMs ask for, and get'}
            </small>
          </li>
        );
      })}
      <Tile what="VMs" value={String(h.vms)} note={h.state === 'on' ? 'run here' : stateWords(h.state)} />
      <Tile what="Power" value={figure(h.power_w, 'W')} note={h.power_w === null ? 'no meter reads it' : 'by its meter'} />
    </ul>
  );
}

function Waking({ h }: { h: Host }) {
  const now = useNow();
  return (
    <section>
      <h2>Standby and wake</h2>
      <Facts
        of={[
          ['Power management', automationWords(h.dpm)],
          ['Woken by', h.wake_methods.join(', ') || 'no method'],
          ['From wake to usable', h.boot_s === null ? 'never measured' : duration(h.boot_s)],
          ['Its controllers', h.identity.meaning],
        ]}
      />
      {h.identity.why && <p class="problem">{h.identity.why}</p>}
      {h.waking && <p>It is being woken{h.waking.method ? ` by ${h.waking.method}` : ''}. {h.waking.why ?? ''}</p>}
      {h.wake_failed_at && <p class="problem">Its last wake failed {ago(h.wake_failed_at, now)}.</p>}
      <ul class="plain">
        {h.wake_proofs.map((p) => (
          <li key={p.method}>
            <b>{p.method}</b> <span class={p.state === 'failed' ? 'short' : 'soft'}>{proofWords(p, now)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function HostPage({ a }: { a: Address }) {
  const { data: h, problem } = useReply<Host>(`/hosts/${encodeURIComponent(a.item)}`);
  const recommendations = useReply<Recommendations>(`/recommendations?limit=10000&host=${encodeURIComponent(a.item)}`);
  const status = useReply<{ status: Status }>('/status');
  const changes = useHostChanges();
  const [words, setWords] = useState('');
  const actions = useMemo(() => byHost(recommendations.data?.recommendations ?? []), [recommendations.data]);
  const query = useMemo<VmQuery>(() => ({ words, host: h?.id ?? a.item, pools: [], order: 'cpu' }), [words, h?.id]);
  const back = <a href="#/hosts">Hosts</a>;
  if (!h) {
    return (
      <>
        <Title text={a.item} above={back} />
        <Missing data={h} problem={problem} />
        {problem?.status === 404 && <ItemActions kind="host" id={a.item} name={a.item} />}
      </>
    );
  }
  return (
    <>
      <Title text={h.name} above={back} />
      <Missing data={h} problem={problem} />
      <ItemFaults kind="host" id={h.id} />
      <Facts
        of={[
          ['State', <span class={`state ${h.state}`}>{stateWords(h.state)}</span>],
          ['Since', h.state === 'standby' && h.standby_since ? <Ago t={h.standby_since} /> : h.on_since ? <Ago t={h.on_since} /> : ''],
          ['Cores', String(h.cores)],
          ['CPU', h.cpu_vendor ?? ''],
          ['Losses with VMs', h.losses === 0 ? '' : `${h.losses}${h.distrusted_until ? `, distrusted until ${h.distrusted_until}` : ''}`],
          ['Own use', h.own_mem_mb ? <>{mhz(h.own_cpu_mhz)}, {mib(h.own_mem_mb)}{h.own_at && <>, <Ago t={h.own_at} /></>}</> : ''],
          ['Reads back swapped memory', h.swap_in_mb_s ? `${h.swap_in_mb_s.toFixed(1)} MiB/s for five minutes` : ''],
          ['Waits for memory', h.mem_pressure ? `${(100 * h.mem_pressure).toFixed(1)} % of five minutes` : ''],
          ['Quarantine', h.quarantine ? 'yes: it receives no VMs' : ''],
        ]}
      />
      {!h.in_inventory && <p class="soft">The host sleeps, and its manager no longer lists it.</p>}
      <HostProgress h={h} actions={actions.get(h.id) ?? []} faults={status.data?.status.faults ?? []} />
      {changes.buttons(h)}
      <Loads h={h} />
      <ItemActions kind="host" id={h.id} name={h.name} />
      <Course route={`/hosts/${encodeURIComponent(h.id)}`} />
      <Waking h={h} />
      <section>
        <h2>Its VMs</h2>
        {h.vms === 0 && <p>{count(0, 'VM')} here.</p>}
        {h.vms > 0 && (
          <>
            <p class="find"><label for="find">Name or state</label> <input id="find" type="search" value={words} onInput={(e) => setWords(e.currentTarget.value)} /></p>
            <Vms query={query} label={`VMs of ${h.name}`} host={false} />
          </>
        )}
      </section>
      {changes.dialog}
    </>
  );
}
