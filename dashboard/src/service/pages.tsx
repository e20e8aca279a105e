// The frame around all pages: navigation, the user who is signed in, whether the figures are current.
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { clockInZone, timeZone } from '../charts/format';
import type { Address } from './address';
import { eventReader } from './events';
import { FaultsPage } from './faults';
import { HistoryPage } from './history';
import { HostPage } from './host';
import { HostsPage } from './hosts';
import { MaintenancePage } from './maintenance';
import { Title, useAddress, useNewPage } from './navigation';
import { Overview } from './overview';
import { PoolPage, PoolsPage } from './pools';
import { PowerPage } from './power';
import { RecommendationsPage } from './recommendations';
import type { Session } from './store';
import { VmPage } from './vm';
import { endVmSource } from './vm_source';
import { VmsPage } from './vms';

interface Page {
  path: string;
  title: string;
  draw: (a: Address) => preact.ComponentChildren;
}

const PAGES: Page[] = [
  { path: 'overview', title: 'Overview', draw: () => <Overview /> },
  { path: 'recommendations', title: 'Recommendations', draw: () => <RecommendationsPage /> },
  { path: 'hosts', title: 'Hosts', draw: (a) => (a.item === '' ? <HostsPage a={a} /> : <HostPage a={a} />) },
  { path: 'vms', title: 'VMs', draw: (a) => (a.item === '' ? <VmsPage a={a} /> : <VmPage a={a} />) },
  { path: 'pools', title: 'Pools', draw: (a) => (a.item === '' ? <PoolsPage /> : <PoolPage a={a} />) },
  { path: 'power', title: 'Power', draw: () => <PowerPage /> },
  { path: 'history', title: 'History', draw: (a) => <HistoryPage a={a} /> },
  { path: 'faults', title: 'Faults', draw: () => <FaultsPage /> },
];
/** Pages that other pages lead to. */
const MORE: Page[] = [{ path: 'maintenance', title: 'Maintenance', draw: () => <MaintenancePage /> }];
const RETRY_MS = 5000;
const GATHER_MS = 1000; // events come in crowds

/** Reads all again when an event comes; polling goes on beside it, for what no event tells. */
function useEvents(s: Session, ended: boolean): boolean {
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (ended) return undefined;
    const stopped = new AbortController();
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
        await s.client.stream(`${s.at}/events/stream${last ? `?after=${last}` : ''}`, stopped.signal, (text) => {
          setLive(true);
          read(text);
        });
      } catch {
        // tried again below
      }
      if (stopped.signal.aborted) return;
      setLive(false);
      retry = setTimeout(() => void follow(), RETRY_MS);
    };
    const read = eventReader(onEvent);
    void follow();
    return () => {
      stopped.abort();
      clearTimeout(gathering);
      clearTimeout(retry);
    };
  }, [s.client, ended]);
  return live;
}

export interface Said {
  text: string;
  isProblem: boolean;
}

/** That the service does not answer: what is shown is then old. */
function Away({ session }: { session: Session }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => session.cache.watch(() => redraw(0)), [session.cache]);
  const trouble = session.cache.trouble();
  useEffect(() => {
    document.body.classList.toggle('old', trouble !== null);
    return () => document.body.classList.remove('old');
  }, [trouble !== null]);
  if (!trouble) return null;
  const { problem, since } = trouble;
  return (
    <p class="problem away" role="alert">
      {problem.message} {since > 0 ? `This page shows what was read at ${clockInZone(since / 1000)}.` : ''} The page tries again by itself.
    </p>
  );
}

function Unknown({ a }: { a: Address }) {
  return (
    <>
      <Title text="No such page" />
      <p>There is no page named {a.page}. <a href="#/overview">Go to the overview</a></p>
    </>
  );
}

/** ended: the session has; nothing more is asked until the next one. */
export function Pages({ session, ended, said, onSay, onSignOut }: { session: Session; ended: boolean; said: Said; onSay: (s: Said) => void; onSignOut: () => void }) {
  const a = useAddress();
  const page = a.page === '' ? PAGES[0] : [...PAGES, ...MORE].find((p) => p.path === a.page);
  const heading = useRef<HTMLElement>(null);
  useEvents(session, ended);
  useEffect(() => endVmSource, []);
  useNewPage(() => {
    heading.current?.focus({ preventScroll: true });
    onSay({ text: '', isProblem: false }); // it was about what is not shown any more
  });
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
        <Away session={session} />
        <div key={`${a.page}/${a.item}`}>{page ? page.draw(a) : <Unknown a={a} />}</div>
        <p class="soft zone">Times are those of {timeZone()}.</p>
      </main>
      <div class={said.text === '' ? 'said' : said.isProblem ? 'said shown bad' : 'said shown'}>
        <p role="status">{said.text}</p>
        {said.text !== '' && <button onClick={() => onSay({ text: '', isProblem: false })}>Close</button>}
      </div>
    </>
  );
}
