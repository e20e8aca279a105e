// The dashboard: signs in, then shows the pages.
import { render } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import { setTimeZone } from '../charts/format';
import '../charts/visible';
import '../charts/charts.css';
import './service.css';
import { QueryCache } from './cache';
import { Client, Problem, type SignedIn } from './client';
import type { Clusters, Status } from './data';
import { Pages, type Said } from './pages';
import { SessionContext, type Session } from './store';

function SignIn({ why, onToken }: { why: string; onToken: (token: string) => Promise<void> }) {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const submit = async (e: Event) => {
    e.preventDefault();
    const token = input.current?.value.trim() ?? '';
    setBusy(true);
    setProblem('');
    try {
      await onToken(token);
    } catch (x) {
      setProblem(x instanceof Problem ? x.message : 'The service answers, but not as Ballast does.');
      setBusy(false);
      input.current?.select();
    }
  };
  useEffect(() => input.current?.focus(), []);
  return (
    <>
      <h1 id="sign-in">Ballast</h1>
      {why && <p class="problem" role="alert">{why}</p>}
      <form onSubmit={(e) => void submit(e)}>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" required ref={input} aria-describedby="token-help" />
        <p id="token-help" class="soft">An administrator makes one with <code>ballast token create NAME --role viewer</code> (or operator). The browser stays signed in until you sign out or close it, or an administrator's limit of time is over.</p>
        <button class="main" disabled={busy}>Sign in</button>
      </form>
      {problem && <p class="problem" role="alert">{problem}</p>}
    </>
  );
}

/** Above the page, which keeps what its user was about: the dialog's own form signs in, and the page goes on. */
function SignInAgain({ why, onToken }: { why: string; onToken: (token: string) => Promise<void> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const hide = document.body.classList;
    dialog.current?.showModal();
    hide.add('signed-out');
    return () => hide.remove('signed-out');
  }, []);
  return (
    <dialog class="sign-in" ref={dialog} aria-labelledby="sign-in" onCancel={(e) => e.preventDefault()} onClose={() => dialog.current?.showModal()}>
      <SignIn why={why} onToken={onToken} />
    </dialog>
  );
}

const NOTHING: Said = { text: '', isProblem: false };

function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined); // undefined: the service was not heard yet
  const [why, setWhy] = useState('');
  const [ended, setEnded] = useState(false); // the session of what is shown
  const [said, setSaid] = useState<Said>(NOTHING);
  const client = useMemo(
    () =>
      new Client((reason) => {
        setWhy(reason);
        setEnded(true);
      }),
    [],
  );
  const forget = useCallback(
    (reason: string) => {
      session?.cache.stop();
      setSession(null);
      setEnded(false);
      setWhy(reason);
      setSaid(NOTHING);
      document.title = 'Ballast';
    },
    [session],
  );
  const open = useCallback(
    async ({ who, role }: SignedIn) => {
      const cluster = ((await client.get('/api/v1/clusters')).body as Clusters).clusters[0];
      if (!cluster) throw new Problem(0, 'The service has no cluster.');
      const at = `/api/v1/clusters/${encodeURIComponent(cluster.name)}`;
      const { status } = (await client.get(`${at}/status`)).body as { status: Status };
      setTimeZone(status.time_zone);
      const is = {
        client,
        at,
        who: who.replace(/ \(token\)$/, ''),
        role,
        say: (text: string, isProblem = false) => setSaid({ text, isProblem }),
      };
      setWhy('');
      setEnded(false);
      if (session && session.who === is.who && session.role === role && session.at === is.at) {
        void session.cache.refresh();
        return;
      }
      session?.cache.stop();
      setSession({ ...is, cache: new QueryCache(client) });
    },
    [session],
  );
  const signIn = useCallback(async (token: string) => open(await client.signIn(token)), [open]);
  const signOut = useCallback(async () => {
    try {
      await client.signOut();
      forget('');
    } catch (e) {
      setSaid({ text: e instanceof Problem ? e.message : 'The reply is not JSON.', isProblem: true });
    }
  }, [forget]);
  useEffect(() => {
    client.current().then((is) => (is ? open(is) : setSession(null))).catch((e) => forget(e instanceof Problem ? e.message : ''));
  }, []);
  if (session === undefined) return null;
  if (session === null) return <main class="sign-in"><SignIn why={why} onToken={signIn} /></main>;
  return (
    <>
      <SessionContext.Provider value={session}>
        <Pages key={session.who} session={session} ended={ended} said={said} onSay={setSaid} onSignOut={() => void signOut()} />
      </SessionContext.Provider>
      {ended && <SignInAgain why={why} onToken={signIn} />}
    </>
  );
}

render(<App />, document.getElementById('page') as HTMLElement);
