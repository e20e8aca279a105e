// Recommendations: decide on one, some or all; what is in progress; what has ended, and by whom.
import { useMemo, useState } from 'preact/hooks';
import type { Action, Recommendations } from './data';
import { Ask, type Question } from './dialog';
import { List } from './list';
import { mayChange, Missing, useChange, useNow, useReply, useSession } from './store';
import { actionTitle, ago, count, isInFlight, progress, progressWords, terms, versionId } from './words';

const ROW = 150;
const IDS_AT_ONCE = 2000; // of a request: its body stays below 64 KiB

type Verb = 'apply' | 'reject';
const DONE: Record<Verb, string> = { apply: 'Approved', reject: 'Rejected' };

/** Decides on the versions that the page shows: one that has changed since is refused by the service. */
function useDecide(): { busy: boolean; decide: (verb: Verb, list: readonly Action[]) => Promise<void> } {
  const { busy, change } = useChange();
  const decide = async (verb: Verb, list: readonly Action[]) => {
    const words = list.length === 1 ? actionTitle(list[0] as Action) : count(list.length, 'recommendation');
    for (let i = 0; i < list.length; i += IDS_AT_ONCE) {
      if (!(await change(`/recommendations/${verb}`, { ids: list.slice(i, i + IDS_AT_ONCE).map(versionId) }, `${DONE[verb]}: ${words}.`))) return;
    }
  };
  return { busy, decide };
}

function Terms({ a }: { a: Action }) {
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

interface RowProps {
  a: Action;
  chosen: boolean;
  onChoose: (on: boolean) => void;
  onDecide: ((verb: Verb) => void) | null;
  busy: boolean;
}

function Row({ a, chosen, onChoose, onDecide, busy }: RowProps) {
  const title = actionTitle(a);
  return (
    <article class="card" aria-label={title}>
      <h3>
        {onDecide && <input type="checkbox" checked={chosen} aria-label={`Choose ${title}`} onChange={(e) => onChoose(e.currentTarget.checked)} />}
        <span>{title}</span> <small class="soft">{versionId(a)}, priority {a.priority}</small>
      </h3>
      <p>{a.text ?? a.reason}</p>
      {a.why && <p class="soft">{a.why}</p>}
      <Terms a={a} />
      {onDecide && (
        <p class="buttons">
          <button class="main" disabled={busy} aria-label={`Approve ${title}`} onClick={() => onDecide('apply')}>Approve</button>{' '}
          <button disabled={busy} aria-label={`Reject ${title}`} onClick={() => onDecide('reject')}>Reject</button>
        </p>
      )}
    </article>
  );
}

function Flying({ a, now }: { a: Action; now: number }) {
  const part = progress(a, now);
  return (
    <article class="card" aria-label={actionTitle(a)}>
      <h3>{actionTitle(a)}</h3>
      {part !== null && <progress max={1} value={part} aria-label={`Time passed of ${actionTitle(a)}`} />}
      <p>
        {progressWords(a, now)}
        {a.approved_by && <span class="soft"> by {a.approved_by}</span>}
      </p>
      {a.why && <p class="soft">{a.why}</p>}
    </article>
  );
}

function Ended({ a, now }: { a: Action; now: number }) {
  const by = a.state === 'rejected' || a.state === 'cancelled' ? a.ended_by : a.approved_by;
  return (
    <article class="card" aria-label={actionTitle(a)}>
      <h3>
        <span>{actionTitle(a)}</span> <span class={`state ${a.state}`}>{a.state}</span>
      </h3>
      <p class="soft">
        {ago(a.ended, now)}
        {by && `, ${a.state === 'rejected' || a.state === 'cancelled' ? 'by' : 'approved by'} ${by}`}
      </p>
      {a.why && <p>{a.why}</p>}
    </article>
  );
}

function Waiting({ waits, onAsk }: { waits: Action[]; onAsk: (q: Question) => void }) {
  const session = useSession();
  const { busy, decide } = useDecide();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const may = mayChange(session);
  // A choice is of a version: a new one was not chosen.
  const picked = useMemo(() => waits.filter((a) => chosen.has(versionId(a))), [waits, chosen]);
  const choose = (a: Action, on: boolean) => {
    const next = new Set(picked.map(versionId));
    if (on) next.add(versionId(a));
    else next.delete(versionId(a));
    setChosen(next);
  };
  const all = (verb: Verb) => {
    const list = waits; // those that are on the page now, and no later ones
    const verbWord = verb === 'apply' ? 'Approve' : 'Reject';
    onAsk({
      title: `${verbWord} all?`,
      text: `${verbWord} ${count(list.length, 'recommendation')} as they are listed now.`,
      yes: `${verbWord} ${list.length}`,
      onYes: () => void decide(verb, list),
    });
  };
  return (
    <section>
      <h2>Waiting for a decision</h2>
      {waits.length === 0 && <p>No recommendation waits for a decision.</p>}
      {may && waits.length > 0 && (
        <p class="buttons" role="group" aria-label="Decide on several">
          <button disabled={busy || picked.length === 0} onClick={() => void decide('apply', picked)}>Approve chosen ({picked.length})</button>{' '}
          <button disabled={busy || picked.length === 0} onClick={() => void decide('reject', picked)}>Reject chosen ({picked.length})</button>{' '}
          <button disabled={busy} onClick={() => all('apply')}>Approve all ({waits.length})</button>{' '}
          <button disabled={busy} onClick={() => all('reject')}>Reject all ({waits.length})</button>
        </p>
      )}
      <List
        rows={waits}
        keyOf={versionId}
        estimate={ROW}
        label="Recommendations that wait for a decision"
        draw={(a) => (
          <Row a={a} busy={busy} chosen={chosen.has(versionId(a))} onChoose={(on) => choose(a, on)} onDecide={may ? (verb) => void decide(verb, [a]) : null} />
        )}
      />
    </section>
  );
}

export function RecommendationsPage() {
  const { data, problem } = useReply<Recommendations>('/recommendations?limit=10000', 2000);
  const history = useReply<{ history: Action[] }>('/history?limit=50');
  const now = useNow();
  const [question, setQuestion] = useState<Question | null>(null);
  const [waits, flying] = useMemo(() => {
    const all = data?.recommendations ?? [];
    return [all.filter((a) => a.state === 'recommended'), all.filter(isInFlight)];
  }, [data]);
  const ended = history.data?.history ?? [];
  return (
    <>
      <Missing data={data} problem={problem} />
      {data?.balance && !data.balance.open && (
        <p class="soft">Optional moves that were approved by the service wait until {data.balance.changes ? ago(data.balance.changes, now) : 'the configuration changes'}. What a person approves does not wait.</p>
      )}
      {data && <Waiting waits={waits} onAsk={setQuestion} />}
      {data && (
        <section>
          <h2>In progress</h2>
          {flying.length === 0 && <p>Nothing is in progress.</p>}
          <List rows={flying} keyOf={versionId} estimate={ROW} label="Actions in progress" draw={(a) => <Flying a={a} now={now} />} />
        </section>
      )}
      <section>
        <h2>Ended</h2>
        <Missing data={history.data} problem={history.problem} />
        {history.data && ended.length === 0 && <p>No action has ended yet.</p>}
        <List rows={ended} keyOf={versionId} estimate={90} label="The newest actions that have ended" draw={(a) => <Ended a={a} now={now} />} />
      </section>
      <Ask question={question} onEnd={() => setQuestion(null)} />
    </>
  );
}
