// What all parts of the page share: who is signed in, the cache, and what was last said to the user.
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useState } from 'preact/hooks';
import type { QueryCache } from './cache';
import { Problem, type Client } from './client';
import type { Role } from './data';

export interface Session {
  client: Client;
  cache: QueryCache;
  /** Path of the cluster's routes */
  at: string;
  who: string;
  role: Role;
  say: (text: string, isProblem?: boolean) => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  return useContext(SessionContext) as Session;
}

export function mayChange(s: Session): boolean {
  return s.role !== 'viewer';
}

const POLL_MS = 5000;

/** The reply to a GET of the cluster's route, kept current; undefined: none yet. */
export function useReply<T>(route: string, everyMs = POLL_MS): { data: T | undefined; problem: Problem | null } {
  const { cache, at } = useSession();
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => cache.use(at + route, everyMs, () => redraw(0)), [cache, at, route, everyMs]);
  const { data, problem } = cache.entry(at + route);
  return { data: data as T | undefined, problem };
}

/** Sends a request that changes something, says what came of it, and reads all again. */
export function useChange(): { busy: boolean; change: (route: string, body: unknown, done: string) => Promise<boolean> } {
  const { client, cache, at, say } = useSession();
  const [busy, setBusy] = useState(false);
  const change = useCallback(
    async (route: string, body: unknown, done: string) => {
      setBusy(true);
      try {
        await client.post(at + route, body);
        say(done);
        return true;
      } catch (e) {
        say(e instanceof Problem ? e.message : 'The reply is not JSON.', true);
        return false;
      } finally {
        await cache.refresh();
        setBusy(false);
      }
    },
    [client, cache, at, say],
  );
  return { busy, change };
}

/** The UNIX time, each second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** What stands in place of a part that has no reply yet, or an old one. */
export function Missing({ data, problem }: { data: unknown; problem: Problem | null }) {
  if (problem) return <p class="problem" role="alert">{problem.message}{data === undefined ? '' : ' What is shown is older.'}</p>;
  return data === undefined ? <p class="soft">Reading ...</p> : null;
}
