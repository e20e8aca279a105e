// All VMs of a cluster: what is searched, in which order, and the few rows that are on the screen. Runs in a worker (vm_worker.ts), so
// that reading 30,000 VMs does not hold up the page.
import type { Demand, Vm } from './data';

export type VmOrder = 'name' | 'host' | 'cpu' | 'mem' | 'served' | 'score';

export interface VmQuery {
  /** Part of the name of the VM or of its host, or its state */
  words: string;
  /** Ids; empty: all. A pool stands for itself alone; null: VMs in no pool */
  host: string;
  pools: readonly (string | null)[];
  /** Only VMs with a score below that; null: all */
  below?: number | null;
  order: VmOrder;
}

export interface VmRows {
  /** VMs in the cluster, and of these the ones that the query finds */
  total: number;
  matched: number;
  first: number;
  rows: Vm[];
}

/** What a VM is entitled to of what it asks for, by the scarcer resource: 0 ... 1; null: it asks for nothing, or that is not known. */
export function served(vm: { cpu: Demand; mem: Demand }): number | null {
  let least: number | null = null;
  for (const r of [vm.cpu, vm.mem]) {
    if (r.demand === null || r.entitlement === null || !(r.demand > 0)) continue;
    const part = Math.min(1, r.entitlement / r.demand);
    least = least === null ? part : Math.min(least, part);
  }
  return least;
}

/** The lower of a VM's scores, percent; null: neither is known. */
export function score(vm: Pick<Vm, 'cpu' | 'mem'>): number | null {
  const known = [vm.cpu.score, vm.mem.score].filter((v): v is number => v !== null);
  return known.length === 0 ? null : Math.min(...known);
}

const UNKNOWN_LAST = 101;

const ORDERS: Record<Exclude<VmOrder, 'name' | 'host'>, (vm: Vm) => number> = {
  cpu: (vm) => -(vm.cpu.demand ?? -1),
  mem: (vm) => -(vm.mem.demand ?? -1),
  served: (vm) => served(vm) ?? 2, // those that ask for nothing come last
  score: (vm) => score(vm) ?? UNKNOWN_LAST,
};

export class VmTable {
  private vms: Vm[] = [];
  private lower: string[] = []; // what is searched in
  private key = '';
  private found: readonly number[] = [];

  /** Pages of the reply to /vms, in their order: the service has sorted them by name. */
  read(texts: readonly string[]): number {
    this.vms = texts.flatMap((text) => (JSON.parse(text) as { vms: Vm[] }).vms);
    this.lower = this.vms.map((v) => `${v.name}\n${v.host_name ?? ''}\n${v.state}`.toLowerCase());
    this.key = '';
    return this.vms.length;
  }

  rows(q: VmQuery, first: number, end: number): VmRows {
    const key = JSON.stringify(q);
    if (key !== this.key) {
      this.found = this.find(q);
      this.key = key;
    }
    const rows = this.found.slice(first, end).map((i) => this.vms[i] as Vm);
    return { total: this.vms.length, matched: this.found.length, first, rows };
  }

  private find(q: VmQuery): number[] {
    const sought = q.words.trim().toLowerCase();
    const pools = new Set(q.pools);
    const below = q.below ?? Infinity;
    const found: number[] = [];
    this.vms.forEach((vm, i) => {
      if (q.host !== '' && vm.host !== q.host) return;
      if (pools.size > 0 && !pools.has(vm.pool)) return;
      if (sought !== '' && !(this.lower[i] as string).includes(sought)) return;
      if (below < Infinity && !((score(vm) ?? Infinity) < below)) return;
      found.push(i);
    });
    if (q.order === 'name') return found;
    if (q.order === 'host') {
      const names = new Intl.Collator('en', { numeric: true });
      const hosts = [...new Set(this.vms.map((v) => v.host_name ?? ''))].sort(names.compare);
      const rank = new Map(hosts.map((name, i) => [name, i]));
      return this.sorted(found, (vm) => rank.get(vm.host_name ?? '') ?? 0);
    }
    return this.sorted(found, ORDERS[q.order]);
  }

  private sorted(found: number[], value: (vm: Vm) => number): number[] {
    const values = this.vms.map(value);
    return found.sort((a, b) => (values[a] as number) - (values[b] as number) || a - b);
  }
}
