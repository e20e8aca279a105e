// Pools as a tree, flattened: each with its depth, parents before children.
import type { Pool } from './data';

export interface PoolRow {
  pool: Pool;
  depth: number;
}

export function poolTree(pools: readonly Pool[]): PoolRow[] {
  const children = new Map<string | null, Pool[]>();
  const known = new Set(pools.map((p) => p.id));
  for (const p of pools) {
    const parent = p.parent !== null && known.has(p.parent) ? p.parent : null;
    const list = children.get(parent);
    if (list) list.push(p);
    else children.set(parent, [p]);
  }
  const rows: PoolRow[] = [];
  const add = (parent: string | null, depth: number) => {
    for (const pool of children.get(parent) ?? []) {
      rows.push({ pool, depth });
      add(pool.id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}

/** Ids of the pool and of all below it. */
export function within(rows: readonly PoolRow[], id: string): string[] {
  const at = rows.findIndex((r) => r.pool.id === id);
  if (at < 0) return [];
  const depth = (rows[at] as PoolRow).depth;
  const end = rows.findIndex((r, i) => i > at && r.depth <= depth);
  return rows.slice(at, end < 0 ? undefined : end).map((r) => r.pool.id);
}
