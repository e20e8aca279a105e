// Curves of the power page: energy by day, and demand as it came and is expected.
import type { TimeAxis } from '../charts/axes';
import type { Curve, Value } from '../charts/curves';

export interface EnergyRow {
  time: string | null;
  length_s: number;
  used_kwh: number | null;
  all_on_kwh: number | null;
  saved_kwh: number | null;
  saved_percent: number | null;
  unmet_percent: number | null;
  host_s: number | null;
  asleep_s: number | null;
}

interface Wanted {
  cpu_mhz: number | null;
  mem_mb: number | null;
}

export interface Forecast {
  time: string;
  dpm: boolean;
  proactive: boolean;
  doubted_since: string | null;
  slot_s: number;
  past: { time: string; expected: Wanted; came: Wanted; woken: number }[];
  ahead: { time: string; expected: Wanted; days: number }[];
}

export interface Drawn {
  curves: Curve[];
  axis: TimeAxis;
}

const DAY_S = 86400;

function unix(time: string): number {
  return Date.parse(time) / 1000;
}

/** Bars of the days; null: there are none. */
export function energyCurves(rows: readonly EnergyRow[]): Drawn | null {
  const days = rows.filter((r): r is EnergyRow & { time: string } => r.time !== null);
  const [first, last] = [days[0], days[days.length - 1]];
  if (!first || !last) return null;
  const start = unix(first.time);
  const middle = days.map((r) => unix(r.time) - start + r.length_s / 2);
  const to = Math.max(7 * DAY_S, unix(last.time) + last.length_s - start);
  // Days to come, without a bar: a bar is as wide as the distance of two points.
  const empty: number[] = [];
  for (let at = unix(last.time) - start + 1.5 * DAY_S; at < to; at += DAY_S) empty.push(at);
  const t = [...middle, ...empty];
  const bars = (values: (number | null)[]) => ({ t, v: [...values, ...empty.map(() => null)] });
  return {
    axis: { start, from: 0, to, utc: true },
    curves: [
      { name: 'had all hosts been on', kind: 'bars', style: 5, points: bars(days.map((r) => r.all_on_kwh)) },
      { name: 'used', kind: 'bars', style: 0, points: bars(days.map((r) => r.used_kwh)) },
    ],
  };
}

/** Demand against the capacity that is on now; null: nothing is known. */
export function forecastCurves(f: Forecast, key: 'cpu_mhz' | 'mem_mb', scale: number, on: number | null): Drawn | null {
  const all = [...f.past, ...f.ahead];
  const [first, last] = [all[0], all[all.length - 1]];
  if (!first || !last) return null;
  const start = unix(first.time);
  const scaled = (v: number | null): Value => (v === null ? null : v / scale);
  const at = (list: readonly { time: string }[]) => list.map((p) => unix(p.time) - start);
  const to = unix(last.time) + f.slot_s - start;
  const curves: Curve[] = [
    { name: 'expected', kind: 'dashed', style: 1, points: { t: at(all), v: all.map((p) => scaled(p.expected[key])) } },
    { name: 'came', kind: 'steps', style: 0, points: { t: at(f.past), v: f.past.map((p) => scaled(p.came[key])) } },
  ];
  if (on !== null) curves.push({ name: 'capacity on now', kind: 'line', style: 2, points: { t: [0, to], v: [scaled(on), scaled(on)] } });
  return { curves, axis: { start, from: 0, to } };
}
