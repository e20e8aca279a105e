// The list of VMs as the page has it: a worker fetches and holds it, and gives the rows that are asked for.
import type { Get } from './cache';
import { OUT_OF_REACH, Problem, type Client } from './client';
import type { VmQuery, VmRows } from './vm_table';
import type { Fetched } from './vm_worker';

interface Waiting {
  resolve: (is: unknown) => void;
  reject: (p: Problem) => void;
}

export class VmSource {
  private readonly worker = new Worker(new URL('./vm_worker.ts', import.meta.url), { type: 'module' });
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  private version = 0;

  constructor(readonly client: Client) {
    this.worker.onmessage = (e: MessageEvent<{ id: number; is?: unknown; problem?: string }>) => {
      const w = this.waiting.get(e.data.id);
      this.waiting.delete(e.data.id);
      if (e.data.problem === undefined) w?.resolve(e.data.is);
      else w?.reject(new Problem(0, e.data.problem));
    };
    this.worker.onerror = () => {
      this.waiting.forEach((w) => w.reject(new Problem(0, 'The part of this page that lists VMs does not run.')));
      this.waiting.clear();
    };
  }

  private ask(message: object): Promise<unknown> {
    const id = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ...message });
    });
  }

  /** For the cache: the body is a number that changes with the list. */
  readonly get: Get = async (path, etag) => {
    const r = await this.client.through(async () => {
      const { status, etag: tag, text } = (await this.ask({ read: path, etag })) as Fetched;
      if (status === 0) throw new Problem(0, OUT_OF_REACH);
      return new Response(status === 304 ? null : text, { status, headers: tag ? { ETag: tag } : {} });
    });
    return { etag: r.headers.get('ETag'), body: r.status === 304 ? undefined : ++this.version };
  };

  rows(query: VmQuery, first: number, end: number): Promise<VmRows> {
    return this.ask({ query, first, end }) as Promise<VmRows>;
  }

  end(): void {
    this.worker.terminate();
  }
}

let source: VmSource | null = null;

/** One for each sign-in. */
export function vmSource(client: Client): VmSource {
  if (source?.client !== client) {
    source?.end();
    source = new VmSource(client);
  }
  return source;
}

/** Forgets the list: the user has signed out. */
export function endVmSource(): void {
  source?.end();
  source = null;
}
