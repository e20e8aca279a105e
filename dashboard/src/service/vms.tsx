// All VMs: searched, in an order.
import { useMemo } from 'preact/hooks';
import type { Address } from './address';
import { setQuery, Title } from './navigation';
import { Vms } from './use_vms';
import type { VmOrder, VmQuery } from './vm_table';

const ORDERS: [VmOrder, string][] = [
  ['name', 'name'],
  ['host', 'host'],
  ['cpu', 'CPU demand, most first'],
  ['mem', 'memory demand, most first'],
  ['served', 'part of its demand that it is entitled to, least first'],
];

export function VmsPage({ a }: { a: Address }) {
  const words = a.query.get('find') ?? '';
  const order = ORDERS.find(([o]) => o === a.query.get('order'))?.[0] ?? 'name';
  const query = useMemo<VmQuery>(() => ({ words, host: '', pools: [], order }), [words, order]);
  return (
    <>
      <Title text="VMs" />
      <p class="find">
        <label for="find">Name, host or state</label> <input id="find" type="search" value={words} onInput={(e) => setQuery({ find: e.currentTarget.value })} />{' '}
        <label for="order">Order</label>{' '}
        <select id="order" value={order} onChange={(e) => setQuery({ order: e.currentTarget.value })}>
          {ORDERS.map(([o, text]) => <option key={o} value={o}>{text}</option>)}
        </select>
      </p>
      <Vms query={query} label="VMs" />
    </>
  );
}
