// Recommendations: decide on one, some or all; what is in progress; what has ended, and by whom.
import { useMemo, useState } from 'preact/hooks';
import { Ended, Flying, useDecide, Waits, type Verb } from './actions';
import type { Action, Recommendations } from './data';
import { Ask, type Question } from './dialog';
import { List } from './list';
import { Title } from './navigation';
import { Ago } from './parts';
import { mayChange, Missing, useReply, useSession } from './store';
import { count, isInFlight, versionId } from './words';

const ROW = 150;

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
          <Waits a={a} busy={busy} chosen={chosen.has(versionId(a))} onChoose={(on) => choose(a, on)} onDecide={may ? (verb) => void decide(verb, [a]) : null} />
        )}
      />
    </section>
  );
}

export function RecommendationsPage() {
  const { data, problem } = useReply<Recommendations>('/recommendations?limit=10000', 2000);
  const history = useReply<{ history: Action[] }>('/history?limit=50');
  const [question, setQuestion] = useState<Question | null>(null);
  const { decide } = useDecide();
  const may = mayChange(useSession());
  const [waits, flying] = useMemo(() => {
    const all = data?.recommendations ?? [];
    return [all.filter((a) => a.state === 'recommended'), all.filter(isInFlight)];
  }, [data]);
  const ended = history.data?.history ?? [];
  return (
    <>
      <Title text="Recommendations" />
      <Missing data={data} problem={problem} />
      {data?.balance && !data.balance.open && (
        <p class="soft">Optional moves that were approved by the service wait until {data.balance.changes ? <Ago t={data.balance.changes} /> : 'the configuration changes'}. What a person approves does not wait.</p>
      )}
      {data && <Waiting waits={waits} onAsk={setQuestion} />}
      {data && (
        <section>
          <h2>In progress</h2>
          {flying.length === 0 && <p>Nothing is in progress.</p>}
          <List rows={flying} keyOf={versionId} estimate={ROW} label="Actions in progress" draw={(a) => <Flying a={a} onWithdraw={may ? () => void decide('reject', [a]) : null} />} />
        </section>
      )}
      <section>
        <h2>Ended</h2>
        <Missing data={history.data} problem={history.problem} />
        {history.data && ended.length === 0 && <p>No action has ended yet.</p>}
        <List rows={ended} keyOf={versionId} estimate={90} label="The newest actions that have ended" draw={(a) => <Ended a={a} />} />
      </section>
      <Ask question={question} onEnd={() => setQuestion(null)} />
    </>
  );
}
