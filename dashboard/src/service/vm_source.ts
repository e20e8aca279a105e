// The list of VMs: fetched by the page, a part at a time and only when it has changed, and handed to the worker unread.
import type { Get } from './cache';
import { Problem, type Client } from './client';
import type { VmQuery, VmRows } from './vm_table';

const PART = 10000; // VMs of a request; the most that the service gives
const TRIES = 3;

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

  private ask(message: object, moved: ArrayBuffer[] = []): Promise<unknown> {
    const id = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ...message }, moved);
    });
  }

  /** For the cache: the body is a number that changes with the list. */
  readonly get: Get = async (path, etag) => {
    for (let n = 0; n < TRIES; n++) {
      const first = await this.client.bytes(`${path}?limit=${PART}`, etag);
      if (!first.bytes) return { etag, body: undefined };
      const pages = [first.bytes];
      let next = first.next;
      let whole = true;
      while (next !== null && whole) {
        const more = await this.client.bytes(next, null);
        whole = more.etag === first.etag; // else the list has changed meanwhile
        if (more.bytes) pages.push(more.bytes);
        next = more.next;
      }
      if (!whole) continue;
      await this.ask({ pages }, pages);
      return { etag: first.etag, body: ++this.version };
    }
    throw new Problem(503, 'The list of VMs changes faster than it can be read.');
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
