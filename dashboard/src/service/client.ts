// Requests to the API, as the user who signed in.
import type { Role } from './data';

/** What the service refused: the sentence of its problem document. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Answer {
  /** The tag of the text; null: none */
  etag: string | null;
  /** undefined: the text is the one that the tag given is of */
  body: unknown;
}

async function problemOf(r: Response): Promise<Problem> {
  let text = `The service answered ${r.status} ${r.statusText}.`;
  try {
    const document = (await r.json()) as { detail?: unknown };
    if (typeof document.detail === 'string') text = document.detail;
  } catch {
    // not a problem document: a proxy's page
  }
  return new Problem(r.status, text);
}

export interface SignedIn {
  who: string;
  role: Role;
  session: { since: string; expires: string; idle_s: number; csrf_token: string };
}

type SessionReply = SignedIn | { who: null; role: null; session: null };

const SESSION = '/api/v1/session';
export const OUT_OF_REACH = 'The service cannot be reached.';
const ENDED = 'Your session has ended.';

/** The session is a cookie that no script can read; here is only the token that tells the service's own pages from others. */
export class Client {
  private csrf: string | null = null; // null: not signed in, nothing is asked
  private who = '';

  /** onEnded: the service no longer takes the session. onOther: another person has signed in with this browser. */
  constructor(
    private readonly onEnded: (why: string) => void,
    private readonly onOther: () => void = () => location.reload(),
  ) {}

  private async send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(path, { ...init, cache: 'no-store', credentials: 'same-origin' }); // tags are kept by QueryCache
    } catch (e) {
      if (init.signal?.aborted) throw e;
      throw new Problem(0, OUT_OF_REACH);
    }
  }

  private take(reply: SessionReply): SignedIn | null {
    this.csrf = reply.session?.csrf_token ?? null;
    this.who = reply.who ?? '';
    return reply.session ? reply : null;
  }

  /** The user who is signed in already: after the page was loaded anew. */
  async current(): Promise<SignedIn | null> {
    const r = await this.send(SESSION, {});
    if (r.status === 401) return null;
    if (!r.ok) throw await problemOf(r);
    return this.take((await r.json()) as SessionReply);
  }

  async signIn(token: string): Promise<SignedIn> {
    const r = await this.send(SESSION, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token }) });
    if (!r.ok) throw await problemOf(r);
    const signedIn = this.take((await r.json()) as SessionReply);
    if (!signedIn) throw new Problem(0, 'The service has begun no session.');
    return signedIn;
  }

  async signOut(): Promise<void> {
    if (this.csrf !== null) await this.change(SESSION, { method: 'DELETE' });
    this.csrf = null;
  }

  private async ask(path: string, init: RequestInit, send = () => this.send(path, init)): Promise<Response> {
    if (this.csrf === null) throw new Problem(401, ENDED);
    const of = this.csrf;
    const r = await send();
    if (r.ok || r.status === 304) return r;
    const problem = await problemOf(r);
    if (r.status === 401 && this.csrf === of) {
      const who = this.who;
      this.csrf = null; // what is asked meanwhile is refused without asking
      // Another tab may have signed in anew while a read was on its way with the cookie of the session before.
      const now = init.method === undefined ? await this.currentOrBack(of) : null;
      if (now?.who === who) return this.ask(path, init, send);
      if (now) this.onOther();
      else this.onEnded(ENDED);
    }
    throw problem;
  }

  /** As current(). If the service does not say whether there is a session (too many requests, out of reach), the page goes on with
   * the one it has: the next request asks again. */
  private async currentOrBack(csrf: string): Promise<SignedIn | null> {
    try {
      return await this.current();
    } catch (e) {
      this.csrf = csrf;
      throw e;
    }
  }

  /** Another tab may have signed in anew: this browser then has another session. */
  private async isRenewed(): Promise<boolean> {
    const [csrf, who] = [this.csrf, this.who];
    const now = await this.current();
    if (now && now.who !== who) this.onOther();
    return now !== null && now.who === who && this.csrf !== csrf;
  }

  private async change(path: string, init: RequestInit): Promise<Response> {
    const send = () => this.ask(path, { ...init, headers: { ...(init.headers as Record<string, string>), 'X-CSRF-Token': this.csrf ?? '' } });
    try {
      return await send();
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 403 || !(await this.isRenewed())) throw e;
      return send();
    }
  }

  async get(path: string, etag: string | null = null): Promise<Answer> {
    const r = await this.ask(path, { headers: etag ? { 'If-None-Match': etag } : {} });
    return { etag: r.headers.get('ETag'), body: r.status === 304 ? undefined : await r.json() };
  }

  /** A GET that another thread sends with the same session; the answer stands for its own, without the text. */
  through(send: () => Promise<Response>): Promise<Response> {
    return this.ask('', {}, send);
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const r = await this.change(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    return (await r.json()) as T;
  }

  /** Bytes as they come, until the signal or the service ends them. */
  async stream(path: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
    const r = await this.ask(path, { signal });
    const reader = r.body?.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) return;
      onText(decoder.decode(part.value, { stream: true }));
    }
  }
}
