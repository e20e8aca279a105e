// Asks before something large is done. The browser's own dialog keeps the focus within, and ends with the Escape key.
import { useEffect, useRef } from 'preact/hooks';

export interface Question {
  title: string;
  text: string;
  yes: string;
  onYes: () => void;
}

export function Ask({ question, onEnd }: { question: Question | null; onEnd: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question) dialog.current?.showModal();
  }, [question]);
  if (!question) return null;
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={onEnd}>
      <h2 id="question">{question.title}</h2>
      <p>{question.text}</p>
      <button
        class="main"
        onClick={() => {
          dialog.current?.close();
          question.onYes();
        }}
      >
        {question.yes}
      </button>{' '}
      <button onClick={() => dialog.current?.close()}>Cancel</button>
    </dialog>
  );
}
