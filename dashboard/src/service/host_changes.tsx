// What may be asked of a host (maintenance, standby, wake), and how far it is.
import { useState } from 'preact/hooks';
import type { Action, Fault, Host } from './data';
import { Ask, type Question } from './dialog';
import { mayChange, useChange, useNow, useSession } from './store';
import { actionKind, actionTitle, count, isInFlight, person, progress, progressWords } from './words';

/** Of each state: what may be asked for. */
const OFFERS: Record<string, string[]> = {
  on: ['Enter maintenance', 'Put to standby'],
  maintenance: ['Exit maintenance'],
  entering_maintenance: ['Exit maintenance'],
  standby: ['Wake'],
};

const REQUESTS: Record<string, { route: string; mode?: string; asks: string }> = {
  'Enter maintenance': { route: '/maintenance', mode: 'enter', asks: 'Its VMs are moved to other hosts first.' },
  'Exit maintenance': { route: '/maintenance', mode: 'exit', asks: '' },
  'Put to standby': { route: '/standby', asks: 'Its VMs are moved to other hosts, then it is switched off. It stays so until it is needed or woken.' },
  Wake: { route: '/wake', asks: 'It is switched on, and draws power until it is put to standby again.' },
};

/** Buttons for a host; none for those who may not. The dialog stands once on the page. */
export function useHostChanges(): { buttons: (h: Host) => preact.JSX.Element | null; dialog: preact.JSX.Element } {
  const may = mayChange(useSession());
  const { busy, change } = useChange();
  const [question, setQuestion] = useState<Question | null>(null);
  const begin = (h: Host, what: string) => {
    const request = REQUESTS[what];
    if (!request) return;
    const go = (more = {}) =>
      void change(request.route, { ...(request.mode ? { mode: request.mode } : {}), host: h.id, ...more }, `${what}: ${h.name} has begun.`, (why) =>
        setQuestion({ title: `${what} all the same?`, text: why, yes: what, onYes: () => go({ yes: true }) }),
      );
    if (request.asks) setQuestion({ title: `${what}: ${h.name}?`, text: request.asks, yes: what, onYes: () => go() });
    else go();
  };
  return {
    buttons: (h) =>
      may && OFFERS[h.state] ? (
        <p class="buttons">
          {(OFFERS[h.state] ?? []).map((what) => (
            <button key={what} disabled={busy} aria-label={`${what}: ${h.name}`} onClick={() => begin(h, what)}>{what}</button>
          ))}
        </p>
      ) : null,
    dialog: <Ask question={question} onEnd={() => setQuestion(null)} />,
  };
}

/** What is done about each host, by its id: actions that go on, and recommendations that wait. */
export function byHost(actions: readonly Action[]): Map<string, Action[]> {
  const all = new Map<string, Action[]>();
  for (const a of actions) {
    if (a.state !== 'recommended' && !isInFlight(a)) continue;
    for (const id of new Set([a.host, a.from, a.to])) {
      if (id === null) continue;
      const list = all.get(id);
      if (list) list.push(a);
      else all.set(id, [a]);
    }
  }
  return all;
}

/** A host that is emptied, or switched: VMs left, those on their way, and what is in the way. */
export function HostProgress({ h, actions, faults }: { h: Host; actions: readonly Action[]; faults: readonly Fault[] }) {
  const now = useNow();
  const own = actions.find((a) => a.host === h.id && isInFlight(a));
  if (!own) return null;
  const empties = own.action === 'enter_maintenance' || own.action === 'power_off';
  const leave = actions.filter((a) => a.from === h.id && isInFlight(a)).length;
  const waits = actions.filter((a) => a.from === h.id && a.state === 'recommended').length;
  const blocks = empties ? faults.filter((f) => f.host === h.id) : [];
  const part = progress(own, now);
  return (
    <>
      <p>
        {actionKind(own)}: {progressWords(own, now)}
        {empties && h.vms > 0 && `; ${count(h.vms, 'VM')} left`}
        {leave > 0 && `; ${count(leave, 'move')} to other hosts in progress`}
        {own.approved_by && <span class="soft">; approved by {person(own.approved_by)}</span>}
      </p>
      {part !== null && <progress max={1} value={part} aria-label={`Progress of ${actionTitle(own)}`} />}
      {empties && waits > 0 && <p>{count(waits, 'move')} of its VMs {waits === 1 ? 'waits' : 'wait'} for a person: <a href="#/recommendations">decide</a></p>}
      {own.why && <p class="soft">{own.why}</p>}
      {blocks.map((f) => <p class="problem" key={f.text}>{f.text}</p>)}
    </>
  );
}
