// Hosts: state, load and VMs; maintenance and standby, and how far they are.
import { useMemo, useState } from 'preact/hooks';
import { Bar } from './bars';
import type { Action, Host, Recommendations } from './data';
import { Ask, type Question } from './dialog';
import { List } from './list';
import { named, naturally } from './loads';
import { mayChange, Missing, useChange, useNow, useReply, useSession } from './store';
import { actionTitle, ago, count, isInFlight, progressWords, stateWords } from './words';

const ROW = 100;

/** What is done about each host, by its id. */
function byHost(actions: readonly Action[]): Map<string, Action[]> {
  const all = new Map<string, Action[]>();
  for (const a of actions.filter(isInFlight)) {
    for (const id of new Set([a.host, a.from, a.to])) {
      if (id === null) continue;
      const list = all.get(id);
      if (list) list.push(a);
      else all.set(id, [a]);
    }
  }
  return all;
}

interface RowProps {
  h: Host;
  actions: readonly Action[];
  now: number;
  buttons: ((what: string) => void) | null;
  busy: boolean;
}

/** Of each state: what may be asked for. */
const OFFERS: Record<string, string[]> = {
  on: ['Enter maintenance', 'Put to standby'],
  maintenance: ['Exit maintenance'],
  entering_maintenance: ['Exit maintenance'],
  standby: ['Wake'],
};

function Row({ h, actions, now, buttons, busy }: RowProps) {
  const own = actions.find((a) => a.host === h.id);
  const leave = actions.filter((a) => a.from === h.id).length;
  return (
    <article class="card" aria-label={h.name}>
      <h3>
        <span>{h.name}</span> <span class={`state ${h.state}`}>{stateWords(h.state)}</span>
        <small class="soft">{count(h.vms, 'VM')}{h.standby_since && h.state === 'standby' ? `, since ${ago(h.standby_since, now)}` : ''}</small>
      </h3>
      {h.cpu.load !== null && <Bar label="CPU" load={h.cpu.load} aim={null} />}
      {h.mem.load !== null && <Bar label="Memory" load={h.mem.load} aim={null} />}
      {own && (
        <p>
          {actionTitle(own)}: {progressWords(own, now)}
          {leave > 0 && `; ${count(leave, 'VM')} on the way to other hosts`}
          {h.vms > 0 && (own.action === 'enter_maintenance' || own.action === 'power_off') && `, ${count(h.vms, 'VM')} left`}
          {own.why && <span class="soft"> {own.why}</span>}
        </p>
      )}
      {buttons && (
        <p class="buttons">
          {(OFFERS[h.state] ?? []).map((what) => (
            <button key={what} disabled={busy} aria-label={`${what}: ${h.name}`} onClick={() => buttons(what)}>{what}</button>
          ))}
        </p>
      )}
    </article>
  );
}

const REQUESTS: Record<string, { route: string; mode?: string; asks?: string }> = {
  'Enter maintenance': { route: '/maintenance', mode: 'enter', asks: 'Its VMs are moved to other hosts first.' },
  'Exit maintenance': { route: '/maintenance', mode: 'exit' },
  'Put to standby': { route: '/standby', asks: 'Its VMs are moved to other hosts, then it is switched off. It stays so until it is needed or woken.' },
  Wake: { route: '/wake' },
};

export function HostsPage() {
  const session = useSession();
  const { data, problem } = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const recommendations = useReply<Recommendations>('/recommendations?limit=10000');
  const { busy, change } = useChange();
  const now = useNow();
  const [words, setWords] = useState('');
  const [question, setQuestion] = useState<Question | null>(null);
  const all = useMemo(() => naturally(data?.hosts ?? []), [data]);
  const rows = useMemo(() => named(all, words), [all, words]);
  const actions = useMemo(() => byHost(recommendations.data?.recommendations ?? []), [recommendations.data]);
  const begin = (h: Host, what: string) => {
    const request = REQUESTS[what];
    if (!request) return;
    const go = () => void change(request.route, { ...(request.mode ? { mode: request.mode } : {}), host: h.id }, `${what}: ${h.name} has begun.`);
    if (request.asks) setQuestion({ title: `${what}: ${h.name}?`, text: request.asks, yes: what, onYes: go });
    else go();
  };
  return (
    <>
      <Missing data={data} problem={problem} />
      <h2>All hosts</h2>
      <p class="find">
        <label for="find">Name or state</label> <input id="find" type="search" value={words} onInput={(e) => setWords(e.currentTarget.value)} />{' '}
        <span class="soft" role="status">{data ? `${rows.length} of ${count(all.length, 'host')}` : ''}</span>
      </p>
      <List
        rows={rows}
        keyOf={(h) => h.id}
        estimate={ROW}
        label="Hosts"
        draw={(h) => <Row h={h} actions={actions.get(h.id) ?? []} now={now} busy={busy} buttons={mayChange(session) ? (what) => begin(h, what) : null} />}
      />
      <Ask question={question} onEnd={() => setQuestion(null)} />
    </>
  );
}
