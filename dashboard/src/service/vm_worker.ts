// The worker that holds the table of VMs. In come pages of the API's reply, as bytes, and questions; out go counts and rows.
import { VmTable, type VmQuery } from './vm_table';

export type Asked = { id: number; pages: ArrayBuffer[] } | { id: number; query: VmQuery; first: number; end: number };

const table = new VmTable();
const decoder = new TextDecoder();

onmessage = (e: MessageEvent<Asked>) => {
  const asked = e.data;
  try {
    if ('pages' in asked) postMessage({ id: asked.id, is: table.read(asked.pages.map((p) => decoder.decode(p))) });
    else postMessage({ id: asked.id, is: table.rows(asked.query, asked.first, asked.end) });
  } catch {
    postMessage({ id: asked.id, problem: 'The list of VMs is not as expected.' });
  }
};
