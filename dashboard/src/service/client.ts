// Requests to the API, as the user who signed in.

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

/** The token stays in memory: a page that is loaded anew asks for it again. */
export class Client {
  constructor(private readonly token: string) {}

  private async ask(path: string, init: RequestInit): Promise<Response> {
    let r: Response;
    try {
      r = await fetch(path, {
        ...init,
        cache: 'no-store', // tags are kept by QueryCache
        credentials: 'omit',
        headers: { Authorization: `Bearer ${this.token}`, ...(init.headers as Record<string, string>) },
      });
    } catch (e) {
      if (init.signal?.aborted) throw e;
      throw new Problem(0, 'The service cannot be reached.');
    }
    if (!r.ok && r.status !== 304) throw await problemOf(r);
    return r;
  }

  async get(path: string, etag: string | null = null): Promise<Answer> {
    const r = await this.ask(path, { headers: etag ? { 'If-None-Match': etag } : {} });
    return { etag: r.headers.get('ETag'), body: r.status === 304 ? undefined : await r.json() };
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const r = await this.ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
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
