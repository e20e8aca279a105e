// The tree of pools, and one pool: what its VMs ask for, what it is entitled to, and its settings.
import { useMemo, useState } from 'preact/hooks';
import type { Address } from './address';
import type { Pool, PoolSetting } from './data';
import { Course } from './course';
import { List } from './list';
import { PoolLink, Title } from './navigation';
import { DemandTiles, Facts, RESOURCES, Wants } from './parts';
import { poolTree, within, type PoolRow } from './pool_tree';
import { Missing, useReply } from './store';
import { Vms } from './use_vms';
import type { VmQuery } from './vm_table';
import { count } from './words';

const ROW = 52;
const DEPTHS = 6; // deeper ones are indented no further

function settingWords(s: PoolSetting, text: (v: number | null) => string): string {
  const parts = [];
  if (s.reservation) parts.push(`${text(s.reservation)} reserved`);
  parts.push(s.limit === null ? 'no limit' : `at most ${text(s.limit)}`);
  if (s.shares !== null) parts.push(count(s.shares, 'share'));
  return parts.join(', ');
}

function Row({ r }: { r: PoolRow }) {
  const { pool } = r;
  return (
    <div class="vm">
      <span class={`vm-name depth${Math.min(r.depth, DEPTHS)}`}>
        <PoolLink id={pool.id} name={pool.name} />
        {pool.parent_name !== null && <small class="soft"> in {pool.parent_name}</small>}
      </span>
      <Wants of={pool} />
      <span />
    </div>
  );
}

function usePools() {
  const { data, problem } = useReply<{ pools: Pool[] }>('/pools?limit=10000');
  return { data, problem, rows: useMemo(() => poolTree(data?.pools ?? []), [data]) };
}

export function PoolsPage() {
  const { data, problem, rows } = usePools();
  return (
    <>
      <Title text="Pools" />
      <Missing data={data} problem={problem} />
      {data && rows.length === 0 && <p>The cluster has no pools: all VMs share its capacity directly.</p>}
      {rows.length > 0 && <p class="soft" role="status">{count(rows.length, 'pool')}; demand of their VMs, and what they are entitled to where it is less.</p>}
      <List rows={rows} keyOf={(r) => r.pool.id} estimate={ROW} label="Pools, each below the one that it is in" draw={(r) => <Row r={r} />} />
    </>
  );
}

export function PoolPage({ a }: { a: Address }) {
  const { data, problem, rows } = usePools();
  const [words, setWords] = useState('');
  const at = rows.find((r) => r.pool.id === a.item);
  const inside = useMemo(() => within(rows, a.item), [rows, a.item]);
  const query = useMemo<VmQuery>(() => ({ words, host: '', pools: inside, order: 'served' }), [words, inside]);
  const back = <a href="#/pools">Pools</a>;
  if (!at) {
    return (
      <>
        <Title text={a.item} above={back} />
        <Missing data={data} problem={problem} />
        {data && <p>There is no pool of this id now.</p>}
      </>
    );
  }
  const { pool } = at;
  const below = rows.filter((r) => r.pool.parent === pool.id);
  return (
    <>
      <Title text={pool.name} above={back} />
      <Missing data={data} problem={problem} />
      <Facts
        of={[
          ['In', pool.parent === null ? 'the cluster' : <PoolLink id={pool.parent} name={pool.parent_name} />],
          ...RESOURCES.map((r) => [r.name, settingWords(pool[r.key], r.text)] as const),
        ]}
      />
      <DemandTiles of={pool} />
      <Course route={`/pools/${encodeURIComponent(pool.id)}`} />
      {below.length > 0 && (
        <section>
          <h2>Pools in it</h2>
          <List rows={below} keyOf={(r) => r.pool.id} estimate={ROW} label={`Pools in ${pool.name}`} draw={(r) => <Row r={{ ...r, depth: 0 }} />} />
        </section>
      )}
      <section>
        <h2>Its VMs</h2>
        <p class="soft">Those in pools below it included. Those that get the least part of their demand come first.</p>
        <p class="find"><label for="find">Name, host or state</label> <input id="find" type="search" value={words} onInput={(e) => setWords(e.currentTarget.value)} /></p>
        <Vms query={query} label={`VMs of ${pool.name}`} />
      </section>
    </>
  );
}
