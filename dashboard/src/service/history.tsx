// What was done, by whom and why; events as they come; what happened since a time, in a few lines.
import { useMemo } from 'preact/hooks';
import { Ended } from './actions';
import { address, type Address } from './address';
import type { Action, Status } from './data';
import { eventText, type StoredEvent } from './events_words';
import { List } from './list';
import { setQuery, Title } from './navigation';
import { lastNight } from './nights';
import { Ago, Facts } from './parts';
import { Missing, useReply } from './store';
import { tellPeriod, tellSummary, type Summary } from './summary';
import { count, person, versionId } from './words';

const ACTIONS = 1000; // the most that the service gives
const EVENTS = 500;
const STATES = ['done', 'failed', 'cancelled', 'rejected', 'expired'];
const REASONS: Record<string, string> = {
  maintenance: 'a host enters maintenance',
  standby: 'a host goes to standby',
  rule: 'a rule is violated',
  host_overcommitted: 'reservations exceed a host',
  balance_cpu: 'balances CPU load',
  balance_mem: 'balances memory load',
  consolidate: 'empties a host for standby',
  high_utilization: 'a host is too full',
  spare_capacity: 'failover capacity is missing',
  quarantine: 'a host is in quarantine',
  room: 'makes room for large VMs',
  placement: 'a VM is powered on',
  prerequisite: 'another action needs it first',
  exchange: 'VMs change places',
  agent: 'an agent VM needs its reservation',
  asked: 'a person asked for it',
  wake_test: 'a wake is proven',
  ready_by: 'capacity must be back',
  expected_demand: 'more will be needed soon',
  vm_went_down: 'a VM went down with it',
  policy: 'a rule of a pipeline moves it',
  reserve: 'empty hosts are kept in reserve',
};

function before(now: number, hours: number): string {
  return new Date((now - 3600 * hours) * 1000).toISOString().replace(/\.\d+/, '');
}

function Since({ a }: { a: Address }) {
  const { data } = useReply<{ status: Status }>('/status', 60000);
  const now = data ? Date.parse(data.status.time) / 1000 : Date.now() / 1000;
  const night = lastNight(data?.status.night ?? null, now);
  const given = a.query.get('since') ?? '';
  const link = (text: string, since: string, on: boolean) => (
    <a href={address('history', '', { ...Object.fromEntries(a.query), since })} {...(on ? { 'aria-current': 'true' as const } : {})}>{text}</a>
  );
  return (
    <p class="choices" role="group" aria-label="Since">
      {link('Last night', night, given === night)}
      {link('24 hours', before(now, 24), false)}
      {link('7 days', before(now, 24 * 7), false)}
      {link('All that is stored', '', given === '')}
    </p>
  );
}

function Told({ since }: { since: string }) {
  const { data, problem } = useReply<{ summary: Summary }>(`/summary?since=${encodeURIComponent(since)}`, 15000);
  const s = data?.summary;
  return (
    <section>
      <h2>In short</h2>
      <Missing data={data} problem={problem} />
      {s && <p class="soft">{tellPeriod(s)}</p>}
      {s && <div class="told"><Facts of={tellSummary(s)} /></div>}
    </section>
  );
}

/** Filters that are asked for at the end of the typing: the service refuses the half of a name. */
function Field({ a, name, label, hint }: { a: Address; name: string; label: string; hint: string }) {
  return (
    <span class="field">
      <label for={name}>{label}</label>
      <input id={name} type="search" placeholder={hint} value={a.query.get(name) ?? ''} onChange={(e) => setQuery({ [name]: e.currentTarget.value.trim() })} />
    </span>
  );
}

function Choice({ a, name, label, none = 'any', of }: { a: Address; name: string; label: string; none?: string; of: readonly (readonly [string, string])[] }) {
  return (
    <span class="field">
      <label for={name}>{label}</label>
      <select id={name} value={a.query.get(name) ?? ''} onChange={(e) => setQuery({ [name]: e.currentTarget.value })}>
        <option value="">{none}</option>
        {of.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </span>
  );
}

/** The request's parameters from the address; `names`: those that it takes. */
function parameters(a: Address, names: readonly string[], limit: number): string {
  const set = new URLSearchParams({ limit: String(limit) });
  for (const name of names) if (a.query.get(name)) set.set(name, a.query.get(name) as string);
  return set.toString();
}

function byWhom(action: Action): string {
  return [action.approved_by, action.ended_by].filter((who) => who !== null).map(person).join(' ').toLowerCase();
}

function Actions({ a }: { a: Address }) {
  const { data, problem } = useReply<{ history: Action[]; more: number }>(`/history?${parameters(a, ['since', 'vm', 'host', 'state'], ACTIONS)}`);
  const reason = a.query.get('reason') ?? '';
  const who = (a.query.get('who') ?? '').toLowerCase();
  const rows = useMemo(
    () => (data?.history ?? []).filter((x) => (reason === '' || x.reason === reason) && (who === '' || byWhom(x).includes(who))),
    [data, reason, who],
  );
  return (
    <section>
      <h2>Actions</h2>
      <Missing data={data} problem={problem} />
      {data && <p class="soft" role="status">{rows.length === 0 ? 'No action fits.' : `${count(rows.length, 'action')}, newest first.`}{data.more > 0 ? ` Looked through the newest ${ACTIONS}; ${data.more} are older.` : ''}</p>}
      <List rows={rows} keyOf={versionId} estimate={90} label="Actions that have ended, newest first" draw={(x) => <Ended a={x} />} />
    </section>
  );
}

function Events({ a }: { a: Address }) {
  const since = a.query.get('since') ?? '';
  const { data, problem } = useReply<{ events: StoredEvent[]; earlier: number }>(`/events?${parameters(a, ['since', 'vm', 'host'], EVENTS)}`);
  const rows = useMemo(() => [...(data?.events ?? [])].reverse(), [data]);
  const full = rows.length === EVENTS;
  return (
    <section>
      <h2>Events</h2>
      <Missing data={data} problem={problem} />
      {data && (
        <p class="soft" role="status">
          {rows.length === 0 ? 'No event fits.' : `${count(rows.length, 'event')}, newest first; new ones come by themselves.`}
          {full && (since ? ` These are the first ${EVENTS} since then.` : ' Older ones are found by the time.')}
        </p>
      )}
      <List
        rows={rows}
        keyOf={(e) => String(e.id)}
        estimate={40}
        label="Events, newest first"
        draw={(e) => (
          <div class={`event ${e.severity}`}>
            <small class="soft"><Ago t={e.time} />{e.severity === 'info' ? '' : `, ${e.severity}`}</small> {eventText(e)}
          </div>
        )}
      />
    </section>
  );
}

export function HistoryPage({ a }: { a: Address }) {
  const since = a.query.get('since') ?? '';
  const what = a.query.get('what') === 'events' ? 'events' : 'actions';
  return (
    <>
      <Title text="History" />
      <Since a={a} />
      {since !== '' && <Told since={since} />}
      <div class="fields" role="group" aria-label="Filters">
        <Choice a={a} name="what" label="Show" none="actions" of={[['events', 'events']]} />
        <Field a={a} name="vm" label="VM" hint="name or id" />
        <Field a={a} name="host" label="Host" hint="name or id" />
        {what === 'actions' && <Choice a={a} name="state" label="State" of={STATES.map((s) => [s, s])} />}
        {what === 'actions' && <Choice a={a} name="reason" label="Reason" of={Object.entries(REASONS)} />}
        {what === 'actions' && <Field a={a} name="who" label="Approved or ended by" hint="part of the name" />}
      </div>
      {what === 'actions' ? <Actions a={a} /> : <Events a={a} />}
    </>
  );
}
