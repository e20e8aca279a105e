// The dashboard: signs in, and shows the page that the address names.
import { render } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import '../charts/charts.css';
import './service.css';
import { QueryCache } from './cache';
import { Client, Problem } from './client';
import type { Clusters } from './data';
import { eventReader } from './events';
import { HostsPage } from './hosts';
import { Overview } from './overview';
import { RecommendationsPage } from './recommendations';
import { SessionContext, type Session } from './store';

const PAGES = [
  { path: 'overview', title: 'Overview', draw: () => <Overview /> },
  { path: 'recommendations', title: 'Recommendations', draw: () => <RecommendationsPage /> },
  { path: 'hosts', title: 'Hosts', draw: () => <HostsPage /> },
];
const RETRY_MS = 5000;
const GATHER_MS = 300; // events come in crowds

function pageOf(hash: string) {
  return PAGES.find((p) => `#/${p.path}` === hash) ?? PAGES[0]!;
}

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
    <main class="sign-in">
      <h1>Ballast</h1>
      {why && <p class="problem" role="alert">{why}</p>}
      <form onSubmit={(e) => void submit(e)}>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" required ref={input} aria-describedby="token-help" />
        <p id="token-help" class="soft">An administrator makes one with <code>ballast token create NAME --role viewer</code> (or operator). This page keeps it until it is closed or loaded anew.</p>
        <button class="main" disabled={busy}>Sign in</button>
      </form>
      {problem && <p class="problem" role="alert">{problem}</p>}
    </main>
  );
}

/** Reads all again when an event comes; polling goes on beside it, for what no event tells. */
function useEvents(s: Session): boolean {
  const [live, setLive] = useState(false);
  useEffect(() => {
    const ended = new AbortController();
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const onEvent = ({ id }: { id: number }) => {
      last = id;
      gathering ??= setTimeout(() => {
        gathering = undefined;
        void s.cache.refresh();
      }, GATHER_MS);
    };
    const follow = async () => {
      try {
        await s.client.stream(`${s.at}/events/stream${last ? `?after=${last}` : ''}`, ended.signal, (text) => {
          setLive(true);
          read(text);
        });
      } catch {
        // tried again below
      }
      if (ended.signal.aborted) return;
      setLive(false);
      retry = setTimeout(() => void follow(), RETRY_MS);
    };
    const read = eventReader(onEvent);
    void follow();
    return () => {
      ended.abort();
      clearTimeout(gathering);
      clearTimeout(retry);
    };
  }, [s.client]);
  return live;
}

interface Said {
  text: string;
  isProblem: boolean;
}

function Pages({ session, said, onSay, onSignOut }: { session: Session; said: Said; onSay: (s: Said) => void; onSignOut: () => void }) {
  const [hash, setHash] = useState(location.hash);
  const page = pageOf(hash);
  const heading = useRef<HTMLElement>(null);
  useEvents(session);
  useEffect(() => {
    const onHash = () => {
      setHash(location.hash);
      scrollTo(0, 0);
      heading.current?.focus({ preventScroll: true });
    };
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  useEffect(() => {
    document.title = `${page.title} - Ballast`;
  }, [page]);
  return (
    <>
      <header class="bar">
        <strong>Ballast</strong>
        <nav aria-label="Pages">
          {PAGES.map((p) => (
            <a key={p.path} href={`#/${p.path}`} {...(p === page ? { 'aria-current': 'page' as const } : {})}>{p.title}</a>
          ))}
        </nav>
        <span class="who">
          {session.who}, {session.role} <button onClick={onSignOut}>Sign out</button>
        </span>
      </header>
      <main ref={heading} tabIndex={-1}>
        <h1>{page.title}</h1>
        {page.draw()}
      </main>
      <div class={said.text === '' ? 'said' : said.isProblem ? 'said shown bad' : 'said shown'}>
        <p role="status">{said.text}</p>
        {said.text !== '' && <button onClick={() => onSay({ text: '', isProblem: false })}>Close</button>}
      </div>
    </>
  );
}

function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [why, setWhy] = useState('');
  const [said, setSaid] = useState<Said>({ text: '', isProblem: false });
  const signOut = useCallback((reason: string) => {
    setSession((s) => {
      s?.cache.stop();
      return null;
    });
    setWhy(reason);
    setSaid({ text: '', isProblem: false });
    document.title = 'Ballast';
  }, []);
  const signIn = useCallback(async (token: string) => {
    const client = new Client(token);
    const { clusters, who, role } = (await client.get('/api/v1/clusters')).body as Clusters;
    const cluster = clusters[0];
    if (!cluster) throw new Problem(0, 'The service has no cluster.');
    setWhy('');
    setSession({
      client,
      cache: new QueryCache(client, signOut),
      at: `/api/v1/clusters/${encodeURIComponent(cluster.name)}`,
      who: who.replace(/ \(token\)$/, ''),
      role,
      say: (text, isProblem = false) => setSaid({ text, isProblem }),
    });
  }, []);
  return useMemo(
    () =>
      session ? (
        <SessionContext.Provider value={session}>
          <Pages session={session} said={said} onSay={setSaid} onSignOut={() => signOut('')} />
        </SessionContext.Provider>
      ) : (
        <SignIn why={why} onToken={signIn} />
      ),
    [session, said, why],
  );
}

render(<App />, document.getElementById('page') as HTMLElement);
