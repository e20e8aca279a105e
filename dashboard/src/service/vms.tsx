// All VMs: searched, those that got too little, in an order.
import { useMemo } from 'preact/hooks';
import type { Address } from './address';
import { setQuery, Title } from './navigation';
import { Vms } from './use_vms';
import type { VmOrder, VmQuery } from './vm_table';
import { SCORE_BOUNDS } from './words';

const ORDERS: [VmOrder, string][] = [
  ['name', 'name'],
  ['host', 'host'],
  ['cpu', 'CPU demand, most first'],
  ['mem', 'memory demand, most first'],
  ['score', 'what they got of what was due, least first'],
  ['served', 'entitlement by demand, least first'],
];

export function VmsPage({ a }: { a: Address }) {
  const words = a.query.get('find') ?? '';
  const order = ORDERS.find(([o]) => o === a.query.get('order'))?.[0] ?? 'name';
  const below = SCORE_BOUNDS.find((b) => String(b) === a.query.get('got')) ?? null;
  const query = useMemo<VmQuery>(() => ({ words, host: '', pools: [], order, below }), [words, order, below]);
  return (
    <>
      <Title text="VMs" />
      <p class="find">
        <span><label for="find">Name, host or state</label> <input id="find" type="search" value={words} onInput={(e) => setQuery({ find: e.currentTarget.value })} /></span>
        <span>
          <label for="got">Got</label>{' '}
          <select id="got" value={below ?? ''} onChange={(e) => setQuery({ got: e.currentTarget.value })}>
            <option value="">any part</option>
            {SCORE_BOUNDS.map((b) => <option key={b} value={b}>less than {b} %</option>)}
          </select>
        </span>
        <span>
          <label for="order">Order</label>{' '}
          <select id="order" value={order} onChange={(e) => setQuery({ order: e.currentTarget.value })}>
            {ORDERS.map(([o, text]) => <option key={o} value={o}>{text}</option>)}
          </select>
        </span>
      </p>
      <p class="soft">Got: the part that a VM was delivered in the last minute of what was due to it, which is its demand, but no more than its entitlement; of CPU and memory the lower part.</p>
      <Vms query={query} label="VMs" />
    </>
  );
}
