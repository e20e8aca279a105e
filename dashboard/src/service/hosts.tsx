// Hosts: state, load and VMs; maintenance and standby, and how far they are.
import { useMemo } from 'preact/hooks';
import type { Address } from './address';
import { Bar } from './bars';
import type { Action, Fault, Host, Recommendations, Status } from './data';
import { byHost, HostProgress, useHostChanges } from './host_changes';
import { SecondPerson } from './item_parts';
import { List } from './list';
import { named, naturally } from './loads';
import { HostLink, setQuery, Title } from './navigation';
import { Since } from './parts';
import { Missing, useReply } from './store';
import { count, stateWords } from './words';

const ROW = 100;
const NONE: readonly Action[] = [];

interface RowProps {
  h: Host;
  actions: readonly Action[];
  faults: readonly Fault[];
  buttons: preact.JSX.Element | null;
}

function Row({ h, actions, faults, buttons }: RowProps) {
  return (
    <article class="card" aria-label={h.name}>
      <h3>
        <HostLink id={h.id} name={h.name} /> <span class={`state ${h.state}`}>{stateWords(h.state)}</span>
        <small class="soft">{count(h.vms, 'VM')}{h.standby_since && h.state === 'standby' ? <>, <Since t={h.standby_since} /></> : ''}</small>
      </h3>
      {h.cpu.load !== null && <Bar label="CPU" load={h.cpu.load} aim={null} />}
      {h.mem.load !== null && <Bar label="Memory" load={h.mem.load} aim={null} />}
      <HostProgress h={h} actions={actions} faults={faults} />
      {buttons}
    </article>
  );
}

export function HostsPage({ a }: { a: Address }) {
  const { data, problem } = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const recommendations = useReply<Recommendations>('/recommendations?limit=10000');
  const status = useReply<{ status: Status }>('/status');
  const changes = useHostChanges();
  const words = a.query.get('find') ?? '';
  const all = useMemo(() => naturally(data?.hosts ?? []), [data]);
  const rows = useMemo(() => named(all, words), [all, words]);
  const actions = useMemo(() => byHost(recommendations.data?.recommendations ?? []), [recommendations.data]);
  return (
    <>
      <Title text="Hosts" />
      <Missing data={data} problem={problem} />
      <SecondPerson of={status.data?.status.first_requests ?? []} />
      <p class="find">
        <label for="find">Name or state</label> <input id="find" type="search" value={words} onInput={(e) => setQuery({ find: e.currentTarget.value })} />{' '}
        <span class="soft" role="status">{data ? `${rows.length} of ${count(all.length, 'host')}` : ''}</span>
        <a href="#/maintenance">Maintenance of several hosts</a>
      </p>
      <h2>All hosts</h2>
      <List
        rows={rows}
        keyOf={(h) => h.id}
        estimate={ROW}
        label="Hosts"
        draw={(h) => <Row h={h} actions={actions.get(h.id) ?? NONE} faults={status.data?.status.faults ?? []} buttons={changes.buttons(h)} />}
      />
      {changes.dialog}
    </>
  );
}
