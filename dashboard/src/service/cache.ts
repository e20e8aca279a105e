// What was read from the API, once for all parts of the page: asked for again every few seconds with the tag of what is there, and
// at once after an event or a request that changes something.
import { Problem, type Answer, type Client } from './client';

export interface Entry {
  data: unknown;
  /** Why the last attempt failed; data is then older */
  problem: Problem | null;
}

interface Query extends Entry {
  /** When the data was last known to be current, ms */
  read: number;
  get: Get;
  etag: string | null;
  everyMs: number;
  users: Set<() => void>;
  timer: ReturnType<typeof setTimeout> | undefined;
  asking: boolean;
  again: boolean;
}

/** How a path is read: as JSON, unless told otherwise. */
export type Get = (path: string, etag: string | null) => Promise<Answer>;

/** The service is away or overloaded: nothing that the reader of the page did wrong. */
export function isAway(p: Problem): boolean {
  return p.status === 0 || p.status >= 500;
}

const EMPTY: Entry = { data: undefined, problem: null };
const SLOWEST_MS = 30000;
const SELDOM_MS = 60000;

export class QueryCache {
  private readonly queries = new Map<string, Query>();
  private readonly watchers = new Set<() => void>();

  constructor(
    private readonly client: Client,
    private readonly isHidden: () => boolean = () => document.hidden,
  ) {}

  entry(path: string): Entry {
    return this.queries.get(path) ?? EMPTY;
  }

  /** Asks for the path until the function that it returns is called. */
  use(path: string, everyMs: number, onChange: () => void, get: Get = (p, etag) => this.client.get(p, etag)): () => void {
    let q = this.queries.get(path);
    if (!q) {
      q = { ...EMPTY, read: 0, get, etag: null, everyMs, users: new Set(), timer: undefined, asking: false, again: false };
      this.queries.set(path, q);
    }
    const query = q;
    query.everyMs = Math.min(query.everyMs, everyMs);
    query.users.add(onChange);
    if (query.users.size === 1) void this.ask(path, query);
    return () => {
      query.users.delete(onChange);
      if (query.users.size === 0) clearTimeout(query.timer);
    };
  }

  /** Asks for all that is in use now, but for what is read so seldom that it is about hours: that is asked for in its time. */
  async refresh(): Promise<void> {
    const isDue = (q: Query) => q.everyMs < SELDOM_MS || q.data === undefined || q.problem !== null || Date.now() - q.read >= q.everyMs;
    const used = [...this.queries].filter(([, q]) => q.users.size > 0 && isDue(q));
    await Promise.all(used.map(([path, q]) => this.ask(path, q)));
  }

  /** What keeps the page from being current, and since when (ms; 0: nothing was read yet); null: it is. */
  trouble(): { problem: Problem; since: number } | null {
    const away = [...this.queries.values()].filter((q) => q.users.size > 0 && q.problem !== null && isAway(q.problem));
    const first = away[0];
    return first ? { problem: first.problem as Problem, since: Math.min(...away.map((q) => q.read)) } : null;
  }

  /** Calls back when trouble() may have changed, until the function that it returns is called. */
  watch(f: () => void): () => void {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  }

  stop(): void {
    for (const q of this.queries.values()) {
      q.users.clear();
      clearTimeout(q.timer);
    }
  }

  private async ask(path: string, q: Query): Promise<void> {
    if (q.asking) {
      q.again = true; // what is on its way may be older than the reason to ask
      return;
    }
    clearTimeout(q.timer);
    q.asking = true;
    let failed = false;
    do {
      q.again = false;
      failed = !(await this.askOnce(path, q));
    } while (q.again && !failed && q.users.size > 0);
    q.asking = false;
    if (q.users.size > 0) q.timer = setTimeout(() => this.due(path, q), failed ? Math.min(2 * q.everyMs, SLOWEST_MS) : q.everyMs);
  }

  private due(path: string, q: Query): void {
    if (this.isHidden()) q.timer = setTimeout(() => this.due(path, q), q.everyMs);
    else void this.ask(path, q);
  }

  /** False: it failed. */
  private async askOnce(path: string, q: Query): Promise<boolean> {
    try {
      const { etag, body } = await q.get(path, q.data === undefined ? null : q.etag);
      const changed = body !== undefined || q.problem !== null;
      if (body !== undefined) q.data = body;
      q.etag = etag;
      q.read = Date.now();
      if (q.problem) {
        q.problem = null;
        this.watchers.forEach((f) => f());
      }
      if (changed) q.users.forEach((f) => f());
      return true;
    } catch (e) {
      const problem = e instanceof Problem ? e : new Problem(0, 'The reply is not JSON.');
      if (problem.status === 401) return false; // what is shown stays until someone signs in again
      q.problem = problem;
      this.watchers.forEach((f) => f());
      q.users.forEach((f) => f());
      return false;
    }
  }
}
