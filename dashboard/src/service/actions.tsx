// Actions as cards, as several pages show them: what they do, how far they are, how they ended and by whom.
import type { Action } from './data';
import { address } from './address';
import { HostLink, VmLink } from './navigation';
import { Ago } from './parts';
import { useChange, useNow } from './store';
import { actionTitle, count, person, progress, progressWords, terms, versionId } from './words';

export type Verb = 'apply' | 'reject';
const IDS_AT_ONCE = 2000; // of a request: its body stays below 64 KiB
const DONE: Record<Verb, string> = { apply: 'Approved', reject: 'Rejected' };

/** Decides on the versions that the page shows: one that has changed since is refused by the service. */
export function useDecide(): { busy: boolean; decide: (verb: Verb, list: readonly Action[]) => Promise<void> } {
  const { busy, change } = useChange();
  const decide = async (verb: Verb, list: readonly Action[]) => {
    const words = list.length === 1 ? actionTitle(list[0] as Action) : count(list.length, 'recommendation');
    for (let i = 0; i < list.length; i += IDS_AT_ONCE) {
      if (!(await change(`/recommendations/${verb}`, { ids: list.slice(i, i + IDS_AT_ONCE).map(versionId) }, `${list[0]?.state === 'approved' ? 'Withdrawn' : DONE[verb]}: ${words}.`))) return;
    }
  };
  return { busy, decide };
}

export function Terms({ a }: { a: Action }) {
  const all = terms(a);
  return all.length === 0 ? null : (
    <dl class="terms">
      {all.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** actionTitle() with links to the VM and the hosts. */
export function ActionTitle({ a }: { a: Action }) {
  const what = actionTitle({ ...a, vm: null, host: null, host_name: null }).replace(/: $/, '');
  if (a.vm === null) return <span>{what}: <HostLink id={a.host} name={a.host_name} /></span>;
  return (
    <span>
      {what} <VmLink id={a.vm} name={a.vm_name} />
      {a.from !== null && <> from <HostLink id={a.from} name={a.from_name} /></>}
      {a.to !== null && <> {a.from === null ? 'on' : 'to'} <HostLink id={a.to} name={a.to_name} /></>}
    </span>
  );
}

/** To the hosts that were considered for the VM, each with the check that decided. */
export function WhyLink({ a }: { a: Action }) {
  if (a.vm === null) return null;
  return <a href={address('vms', a.vm, { why: '1' })} aria-label={`Why not elsewhere: ${a.vm_name ?? a.vm}`}>Why not elsewhere</a>;
}

interface WaitsProps {
  a: Action;
  chosen?: boolean;
  /** Absent: it is decided on alone */
  onChoose?: (on: boolean) => void;
  onDecide: ((verb: Verb) => void) | null;
  busy: boolean;
}

/** A recommendation that waits for a decision. */
export function Waits({ a, chosen = false, onChoose, onDecide, busy }: WaitsProps) {
  const title = actionTitle(a);
  return (
    <article class="card" aria-label={title}>
      <h3>
        {onDecide && onChoose && <input type="checkbox" checked={chosen} aria-label={`Choose ${title}`} onChange={(e) => onChoose(e.currentTarget.checked)} />}
        <ActionTitle a={a} /> <small class="soft">{versionId(a)}, priority {a.priority}</small>
      </h3>
      <p>{a.text ?? a.reason}</p>
      {a.why && <p class="soft">{a.why}</p>}
      <Terms a={a} />
      <p class="buttons">
        {onDecide && (
          <>
            <button class="main" disabled={busy} aria-label={`Approve ${title}`} onClick={() => onDecide('apply')}>Approve</button>{' '}
            <button disabled={busy} aria-label={`Reject ${title}`} onClick={() => onDecide('reject')}>Reject</button>{' '}
          </>
        )}
        <WhyLink a={a} />
      </p>
    </article>
  );
}

/** An action that goes on. onWithdraw: for one that has not begun. */
export function Flying({ a, onWithdraw }: { a: Action; onWithdraw?: (() => void) | null }) {
  const now = useNow();
  const part = progress(a, now);
  return (
    <article class="card" aria-label={actionTitle(a)}>
      <h3>{actionTitle(a)}</h3>
      {part !== null && <progress max={1} value={part} aria-label={`Progress of ${actionTitle(a)}`} />}
      <p>
        {progressWords(a, now)}
        {a.approved_by && <span class="soft">, approved by {person(a.approved_by)}</span>}
      </p>
      {a.why && <p class="soft">{a.why}</p>}
      {onWithdraw && a.state === 'approved' && (
        <p class="buttons">
          <button aria-label={`Withdraw the approval: ${actionTitle(a)}`} onClick={onWithdraw}>Withdraw</button>
        </p>
      )}
    </article>
  );
}

export function Ended({ a }: { a: Action }) {
  const by = a.state === 'rejected' || a.state === 'cancelled' ? a.ended_by : a.approved_by;
  return (
    <article class="card" aria-label={actionTitle(a)}>
      <h3>
        <ActionTitle a={a} /> <span class={`state ${a.state}`}>{a.state}</span>
      </h3>
      <p class="soft">
        <Ago t={a.ended} />
        {by && `, ${a.state === 'rejected' || a.state === 'cancelled' ? 'by' : 'approved by'} ${person(by)}`}
      </p>
      {a.why && <p>{a.why}</p>}
      {a.text && <p>{a.text}</p>}
    </article>
  );
}
