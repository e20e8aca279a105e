// Ranges and tick marks of the axes.
import { clock, day, fromLocal, utcDay, zoneOffset } from './format';

const VALUE_STEPS = 4;
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10]; // their quarters are round as well
const H = 3600;
const DAY = 24 * H;
const TIME_STEPS = [
  60, 120, 300, 600, 900, 1800, H, 2 * H, 3 * H, 6 * H, 12 * H, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 364 * DAY,
];

/** The smallest number not below v whose quarters are round. */
export function roundUp(v: number): number {
  if (!(v > 0) || !Number.isFinite(v)) return 1;
  let power = 1;
  while (power * 10 <= v) power *= 10;
  while (power > v) power /= 10;
  const step = ROUND.find((s) => s * power >= v * (1 - 1e-9));
  return (step ?? 10) * power;
}

/** As roundUp(), for counts: the quarters are whole numbers. */
export function countUp(n: number): number {
  return VALUE_STEPS * Math.ceil(roundUp(n) / VALUE_STEPS);
}

/** From low to high, in equal steps. */
export function valueTicks(low: number, high: number): number[] {
  return Array.from({ length: VALUE_STEPS + 1 }, (_, i) => low + ((high - low) * i) / VALUE_STEPS);
}

/** The time axis that all plots of a page share. */
export interface TimeAxis {
  /** UNIX time of t = 0 */
  start: number;
  from: number;
  to: number;
  /** Its days are those of UTC, whatever the zone of the page */
  utc?: boolean;
}

export interface TimeTick {
  t: number;
  label: string;
}

/** Times that are round on the zone's clocks, at most `most`; the first one and each midnight with the day. */
export function timeTicks(axis: TimeAxis, most: number): TimeTick[] {
  const span = axis.to - axis.from;
  const step = TIME_STEPS.find((s) => span / s <= most) ?? Math.ceil(span / most / DAY) * DAY;
  const ticks: TimeTick[] = [];
  const begin = axis.start + Math.ceil(axis.from);
  const ahead = axis.utc ? 0 : zoneOffset(begin);
  for (let local = Math.ceil((begin + ahead) / step) * step; ; local += step) {
    const at = axis.utc ? local : fromLocal(local);
    if (at - axis.start > axis.to) return ticks;
    if (at < begin) continue; // the clocks were set meanwhile
    const withDay = ticks.length === 0 || local % DAY === 0;
    const label = step >= DAY ? (axis.utc ? utcDay(at) : day(at)) : withDay ? `${clock(at)}\n${day(at)}` : clock(at);
    ticks.push({ t: at - axis.start, label });
  }
}
