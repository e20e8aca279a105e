// Figures of all hosts, from the list of them.
import type { Host } from './data';

/** Hosts that carry VMs, or could. */
export function awake(hosts: readonly Host[]): Host[] {
  return hosts.filter((h) => h.cpu.load !== null || h.mem.load !== null);
}

/** The mean of the loads that are known; null: none is. */
export function mean(loads: readonly (number | null)[]): number | null {
  const known = loads.filter((v): v is number => v !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
}

/** The fuller of both resources. */
export function fullest(h: Host): number {
  return Math.max(h.cpu.load ?? -1, h.mem.load ?? -1);
}

const byName = new Intl.Collator('en', { numeric: true });

export function fullestFirst(hosts: readonly Host[]): Host[] {
  return [...hosts].sort((a, b) => fullest(b) - fullest(a) || byName.compare(a.name, b.name));
}

export function naturally(hosts: readonly Host[]): Host[] {
  return [...hosts].sort((a, b) => byName.compare(a.name, b.name));
}

export function named(hosts: readonly Host[], words: string): Host[] {
  const sought = words.trim().toLowerCase();
  return sought === '' ? [...hosts] : hosts.filter((h) => h.name.toLowerCase().includes(sought) || h.state.includes(sought));
}
