// Pause and resume, and a pass at once: the buttons that are about the whole cluster.
import { useState } from 'preact/hooks';
import type { Status } from './data';
import { Ask, type Question } from './dialog';
import { Since } from './parts';
import { mayChange, useChange, useSession } from './store';

export function Controls({ s }: { s: Status }) {
  const { busy, change } = useChange();
  const [question, setQuestion] = useState<Question | null>(null);
  if (!mayChange(useSession())) return null;
  const pause = () =>
    setQuestion({
      title: 'Pause all actions?',
      text: 'No action begins until a person resumes: no move, no standby, no wake. Those that run go on to their end.',
      yes: 'Pause',
      onYes: () => void change('/pause', {}, 'Paused: no action begins until it is resumed.'),
    });
  return (
    <div class="buttons" role="group" aria-label="The cluster">
      {s.frozen ? (
        <button class="main" disabled={busy} onClick={() => void change('/resume', {}, 'Resumed: actions begin again.')}>Resume</button>
      ) : (
        <button disabled={busy} onClick={pause}>Pause</button>
      )}
      <button disabled={busy} onClick={() => void change('/passes', {}, 'A pass has been made.')}>Make a pass now</button>
      <Ask question={question} onEnd={() => setQuestion(null)} />
    </div>
  );
}

/** Since when actions are paused. */
export function PausedSince({ s }: { s: Status }) {
  if (!s.frozen) return null;
  return <p class="soft">Paused <Since t={s.frozen_since} />.</p>;
}
