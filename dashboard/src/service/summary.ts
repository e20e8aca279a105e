// What happened since a time, in about ten lines; the words of `ballast status --since`.
import { clockInZone, dayAndClock, duration, figure } from '../charts/format';
import { count, kwh } from './words';

interface Ends {
  done: number;
  failed: number;
  cancelled: number;
  rejected: number;
  reasons: { n: number; text: string }[];
}

interface Wakes extends Ends {
  late: number;
  slowest_host_name: string | null;
  slowest_s: number | null;
  slowest_expected_s: number | null;
}

interface Lacking {
  unmet_mhz_s?: number | null;
  unmet_mb_s?: number | null;
  unmet_percent: number | null;
  worst: string | null;
  worst_mhz?: number | null;
  worst_mb?: number | null;
}

export interface Summary {
  since: string;
  until: string;
  moves: Ends;
  standby: Ends;
  wakes: Wakes;
  placed: Ends;
  maintenance_entered: Ends;
  maintenance_left: Ends;
  energy: { used_kwh: number | null; saved_kwh: number | null; saved_percent: number | null; host_s: number | null; asleep_s: number | null; unknown_s: number | null };
  lacking: { cpu: Lacking; mem: Lacking };
  unread_s: number | null;
  faults: { came: number; gone: number; standing: number; more: boolean; codes: { code: string; came: number }[] };
  source_lost: number;
}

function ends(e: Ends, one: string, many: string): string {
  const parts = [];
  if (e.done > 0) parts.push(count(e.done, one, many));
  if (e.cancelled > 0) parts.push(`${e.cancelled} cancelled`);
  if (e.rejected > 0) parts.push(`${e.rejected} rejected`);
  if (e.failed > 0) {
    const reason = e.reasons[0];
    parts.push(`${e.failed} failed${reason ? `${reason.n < e.failed ? `, ${reason.n} of them` : ''}: ${reason.text}` : ''}`);
  }
  return parts.join(', ') || 'none';
}

function wakes(w: Wakes): string {
  const late = w.late > 0 ? `; ${w.late} late (${w.slowest_host_name ?? '-'}: ${duration(w.slowest_s ?? 0)}, not ${duration(w.slowest_expected_s ?? 0)})` : '';
  return ends(w, 'host woken', 'hosts woken') + late;
}

function energy(e: Summary['energy']): string {
  if (!e.host_s || !(e.host_s > (e.unknown_s ?? 0))) return 'not known: no host has a power model or a meter';
  const asleep = e.asleep_s ? `; ${Math.round((100 * e.asleep_s) / e.host_s)} % of the host time in standby` : '';
  return `${kwh(e.used_kwh)} used, ${kwh(Math.max(0, e.saved_kwh ?? 0))} saved${asleep}`;
}

/** Less than a hundredth is as good as nothing. */
function amountOf(v: number, unit: string): string {
  return v < 0.01 ? `less than 0.01 ${unit}` : figure(v, unit);
}

function lacking(l: Lacking, unit: string, amount: number | null | undefined, worst: number | null | undefined): string {
  if (l.unmet_percent === null) return 'not known';
  if (!amount || !(amount > 0)) return 'none: VMs got what they asked for';
  const most = l.worst !== null && worst ? `; most: ${amountOf(worst, unit)} in the hour from ${dayAndClock(Date.parse(l.worst) / 1000)}` : '';
  return `${amountOf(amount, `${unit} h`)}, ${amountOf(l.unmet_percent, '%')} of demand${most}`;
}

function scaled(v: number | null | undefined, by: number): number | null {
  return v === null || v === undefined ? null : v / by;
}

function faults(f: Summary['faults']): string {
  const came = f.came === 0 ? 'none came' : `${f.more ? 'at least ' : ''}${f.came} came (${f.codes.map((c) => `${c.came} ${c.code}`).join(', ')}), ${f.gone} of them gone`;
  return `${came}; ${f.standing} now`;
}

export function tellPeriod(s: Summary): string {
  const [from, until] = [Date.parse(s.since) / 1000, Date.parse(s.until) / 1000];
  const missing = (s.unread_s ?? 0) >= 60 ? `; no data for ${duration(s.unread_s as number)} of it` : '';
  return `From ${dayAndClock(from)} to ${clockInZone(until)} (${duration(until - from)})${missing}.`;
}

/** Names and sentences. */
export function tellSummary(s: Summary): [string, string][] {
  const all: [string, string][] = [
    ['Moves', ends(s.moves, 'done', 'done')],
    ['Put to standby', ends(s.standby, 'host', 'hosts')],
    ['Woken', wakes(s.wakes)],
    ['Energy', energy(s.energy)],
    ['CPU shortage', lacking(s.lacking.cpu, 'GHz', scaled(s.lacking.cpu.unmet_mhz_s, 3600e3), scaled(s.lacking.cpu.worst_mhz, 1000))],
    ['Memory shortage', lacking(s.lacking.mem, 'GiB', scaled(s.lacking.mem.unmet_mb_s, 3600 * 1024), scaled(s.lacking.mem.worst_mb, 1024))],
    ['Faults', faults(s.faults)],
  ];
  const more: [string, Ends, string, string][] = [
    ['Powered on', s.placed, 'VM', 'VMs'],
    ['Into maintenance', s.maintenance_entered, 'host', 'hosts'],
    ['Out of maintenance', s.maintenance_left, 'host', 'hosts'],
  ];
  for (const [name, e, one, many] of more) if (e.done + e.failed > 0) all.push([name, ends(e, one, many)]);
  if (s.source_lost > 0) all.push(['Hypervisor lost', count(s.source_lost, 'time')]);
  return all;
}
