// The worker that holds the table of VMs: it fetches the list itself, so that the page has nothing to do with its megabytes. In come
// questions; out go counts, rows, and how a request was answered.
import { VmTable, type VmQuery } from './vm_table';

/** read: the path of the list, and the tag of the one that is held. */
export type Asked = { id: number; read: string; etag: string | null } | { id: number; query: VmQuery; first: number; end: number };

/** status 0: the service cannot be reached; text: of a problem document. */
export interface Fetched {
  status: number;
  etag: string | null;
  text: string;
}

const PART = 10000; // VMs of a request; the most that the service gives
const TRIES = 3;
const CHANGES = '{"detail": "The list of VMs changes faster than it can be read."}';

const table = new VmTable();

/** Asks for a part of the list; null: out of reach. */
async function get(path: string, etag: string | null): Promise<Response | null> {
  try {
    return await fetch(path, { headers: etag ? { 'If-None-Match': etag } : {}, cache: 'no-store', credentials: 'same-origin' });
  } catch {
    return null;
  }
}

/** Where the list goes on (RFC 8288). */
function nextOf(r: Response): string | null {
  return /<([^>]*)>;\s*rel="next"/.exec(r.headers.get('Link') ?? '')?.[1] ?? null;
}

/** Reads the list, all of its parts of one version. */
async function read(path: string, tag: string | null): Promise<Fetched> {
  for (let n = 0; n < TRIES; n++) {
    const pages: string[] = [];
    let etag: string | null = null;
    let whole = true;
    for (let next: string | null = `${path}?limit=${PART}`; next !== null && whole; ) {
      const r = await get(next, pages.length === 0 ? tag : null);
      if (!r?.ok) return { status: r?.status ?? 0, etag: tag, text: r && r.status !== 304 ? await r.text() : '' };
      whole = pages.length === 0 || r.headers.get('ETag') === etag; // else the list has changed meanwhile
      etag = r.headers.get('ETag');
      pages.push(await r.text());
      next = nextOf(r);
    }
    if (!whole) continue;
    table.read(pages);
    return { status: 200, etag, text: '' };
  }
  return { status: 503, etag: null, text: CHANGES };
}

onmessage = async (e: MessageEvent<Asked>) => {
  const asked = e.data;
  try {
    postMessage({ id: asked.id, is: 'read' in asked ? await read(asked.read, asked.etag) : table.rows(asked.query, asked.first, asked.end) });
  } catch {
    postMessage({ id: asked.id, problem: 'The list of VMs is not as expected.' });
  }
};
