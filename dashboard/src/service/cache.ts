// What was read from the API, once for all parts of the page: asked for again every few seconds with the tag of what is there, and
// at once after an event or a request that changes something.
import { Problem, type Client } from './client';

export interface Entry {
  data: unknown;
  /** Why the last attempt failed; data is then older */
  problem: Problem | null;
}

interface Query extends Entry {
  etag: string | null;
  everyMs: number;
  users: Set<() => void>;
  timer: ReturnType<typeof setTimeout> | undefined;
  asking: boolean;
  again: boolean;
}

const EMPTY: Entry = { data: undefined, problem: null };
const SLOWEST_MS = 30000;

export class QueryCache {
  private readonly queries = new Map<string, Query>();

  /** onSignedOut: the service no longer takes the token. */
  constructor(
    private readonly client: Client,
    private readonly onSignedOut: (why: string) => void,
    private readonly isHidden: () => boolean = () => document.hidden,
  ) {}

  entry(path: string): Entry {
    return this.queries.get(path) ?? EMPTY;
  }

  /** Asks for the path until the function that it returns is called. */
  use(path: string, everyMs: number, onChange: () => void): () => void {
    let q = this.queries.get(path);
    if (!q) {
      q = { ...EMPTY, etag: null, everyMs, users: new Set(), timer: undefined, asking: false, again: false };
      this.queries.set(path, q);
    }
    const query = q;
    query.users.add(onChange);
    if (query.users.size === 1) void this.ask(path, query);
    return () => {
      query.users.delete(onChange);
      if (query.users.size === 0) clearTimeout(query.timer);
    };
  }

  /** Asks for all that is in use now. */
  async refresh(): Promise<void> {
    const used = [...this.queries].filter(([, q]) => q.users.size > 0);
    await Promise.all(used.map(([path, q]) => this.ask(path, q)));
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
      const { etag, body } = await this.client.get(path, q.data === undefined ? null : q.etag);
      const changed = body !== undefined || q.problem !== null;
      if (body !== undefined) q.data = body;
      q.etag = etag;
      q.problem = null;
      if (changed) q.users.forEach((f) => f());
      return true;
    } catch (e) {
      const problem = e instanceof Problem ? e : new Problem(0, 'The reply is not JSON.');
      if (problem.status === 401) {
        this.onSignedOut(problem.message);
        return false;
      }
      q.problem = problem;
      q.users.forEach((f) => f());
      return false;
    }
  }
}
