// What the pages of a VM, a host and a pool share: what waits for it, what goes on, what has ended, and what is wrong.
import { Ended, Flying, useDecide, Waits } from './actions';
import type { Action, Fault, FirstRequest, Recommendations, Status } from './data';
import { address } from './address';
import { Ago } from './parts';
import { mayChange, Missing, useReply, useSession } from './store';
import { isInFlight, versionId } from './words';

const ENDED = 20;

/** Actions about a VM or a host (also: one of the two hosts of a move). */
export function ItemActions({ kind, id, name }: { kind: 'vm' | 'host'; id: string; name: string }) {
  const session = useSession();
  const { data, problem } = useReply<Recommendations>(`/recommendations?limit=10000&${kind}=${encodeURIComponent(id)}`);
  const history = useReply<{ history: Action[]; more: number }>(`/history?limit=${ENDED}&${kind}=${encodeURIComponent(id)}`);
  const { busy, decide } = useDecide();
  const own = data?.recommendations ?? [];
  const may = mayChange(session);
  const waits = own.filter((a) => a.state === 'recommended');
  const flying = own.filter(isInFlight);
  const ended = history.data?.history ?? [];
  return (
    <>
      {(waits.length > 0 || flying.length > 0) && (
        <section>
          <h2>Now</h2>
          <ul class="list">
            {flying.map((a) => <li key={versionId(a)}><Flying a={a} onWithdraw={may ? () => void decide('reject', [a]) : null} /></li>)}
            {waits.map((a) => <li key={versionId(a)}><Waits a={a} busy={busy} onDecide={may ? (verb) => void decide(verb, [a]) : null} /></li>)}
          </ul>
        </section>
      )}
      <section>
        <h2>Before</h2>
        <Missing data={data && history.data} problem={problem ?? history.problem} />
        {history.data && ended.length === 0 && <p>No action about {name} has ended.</p>}
        <ul class="list">{ended.map((a) => <li key={versionId(a)}><Ended a={a} /></li>)}</ul>
        {(history.data?.more ?? 0) > 0 && <p><a href={address('history', '', { [kind]: id })}>All of its history</a></p>}
      </section>
    </>
  );
}

/** What one person has asked for, and a second one has to ask for too; approvals stand with their recommendations. */
export function SecondPerson({ of }: { of: readonly FirstRequest[] }) {
  return (
    <>
      {of.filter((f) => f.action !== 'approve').map((f) => (
        <p key={f.text}>{f.by} asked to {f.text}. This takes two people: it waits for another person to ask for the same <Ago t={f.until} /> at the latest.</p>
      ))}
    </>
  );
}

/** Faults of the last pass about a VM or a host. */
export function ItemFaults({ kind, id }: { kind: 'vm' | 'host'; id: string }) {
  const { data } = useReply<{ status: Status }>('/status');
  const faults = (data?.status.faults ?? []).filter((f: Fault) => f[kind] === id);
  return <>{faults.map((f) => <p class="problem" key={f.text}>{f.text}</p>)}</>;
}
