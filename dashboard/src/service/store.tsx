// What all parts of the page share: the user who is signed in, the cache, and the last message to the user.
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useState } from 'preact/hooks';
import { isAway, type Get, type QueryCache } from './cache';
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
export function useReply<T>(route: string, everyMs = POLL_MS, get?: Get): { data: T | undefined; problem: Problem | null } {
  const { cache, at } = useSession();
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => cache.use(at + route, everyMs, () => redraw(0), get), [cache, at, route, everyMs]);
  const { data, problem } = cache.entry(at + route);
  return { data: data as T | undefined, problem };
}

/** The reply to a GET that costs the service work: asked for once, and again when the user says so. */
export function useOnce<T>(route: string): { data: T | undefined; problem: Problem | null; asking: boolean; again: () => void } {
  const { client, at } = useSession();
  const [n, setN] = useState(0);
  const [is, setIs] = useState<{ data: T | undefined; problem: Problem | null; asking: boolean }>({ data: undefined, problem: null, asking: true });
  useEffect(() => {
    let wanted = true;
    setIs((was) => ({ ...was, asking: true }));
    client.get(at + route).then(
      ({ body }) => wanted && setIs({ data: body as T, problem: null, asking: false }),
      (e) => wanted && setIs({ data: undefined, problem: e instanceof Problem ? e : new Problem(0, 'The reply is not JSON.'), asking: false }),
    );
    return () => {
      wanted = false;
    };
  }, [client, at, route, n]);
  return { ...is, again: () => setN(n + 1) };
}

/** Sends a request that changes something, says what came of it, and reads all again. */
export function useChange(): { busy: boolean; change: (route: string, body: unknown, done: string, unconfirmed?: (why: string) => void) => Promise<boolean> } {
  const { client, cache, at, say } = useSession();
  const [busy, setBusy] = useState(false);
  const change = useCallback(
    async (route: string, body: unknown, done: string, unconfirmed?: (why: string) => void) => {
      setBusy(true);
      try {
        const left = (await client.post<{ left_out?: { why: string }[] } | null>(at + route, body))?.left_out ?? [];
        say(left.length === 0 ? done : `${done} Left out: ${left.length}; ${left[0]?.why ?? ''}.`, left.length > 0);
        return true;
      } catch (e) {
        if (e instanceof Problem && e.status === 428 && unconfirmed) unconfirmed(e.message);
        else say(e instanceof Problem ? e.message : 'The reply is not JSON.', true);
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

const ticks = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** The UNIX time, each second: for the smallest part that shows it, since all of that part is drawn again. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const tick = () => setNow(Date.now() / 1000);
    ticks.add(tick);
    ticking ??= setInterval(() => ticks.forEach((f) => f()), 1000);
    return () => {
      ticks.delete(tick);
      if (ticks.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return now;
}

/** What stands in place of a part that has no reply yet, or an old one. */
export function Missing({ data, problem }: { data: unknown; problem: Problem | null }) {
  if (problem && isAway(problem) && data !== undefined) return null; // the head of the page says so
  if (problem) return <p class="problem" role="alert">{problem.message}{data === undefined ? '' : ' What is shown is older.'}</p>;
  return data === undefined ? <p class="soft">Reading ...</p> : null;
}
