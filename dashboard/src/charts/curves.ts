// What a chart of lines or bars draws, and how it is told in a sentence and in a table.
import { roundUp, type TimeAxis } from './axes';
import { dayAndClock, figure, number, timeZone } from './format';

export type Value = number | null;

/** Points over time, by ascending time. null: not known, or a gap. */
export interface Points {
  t: readonly number[];
  v: readonly Value[];
  /**
   * What only all points tell, where v holds some of them: the mean, the last value, and the values at the times of
   * tableTimes(). Without it they are those of v.
   */
  whole?: { mean: Value; last: Value; at: readonly Value[] } | undefined;
}

export interface Curve {
  name: string;
  kind: 'line' | 'steps' | 'dashed' | 'band' | 'bars';
  /** Which of the eight colours, see charts.css */
  style: number;
  points: Points;
  /** Of a band: its lower edge; points are the upper one */
  low?: Points;
}

const TABLE_ROWS = 24;
const TOLD_MAX = 8; // curves in a sentence

/** The times of a chart's table. */
export function tableTimes(axis: TimeAxis): number[] {
  return Array.from({ length: TABLE_ROWS + 1 }, (_, i) => axis.from + ((axis.to - axis.from) * i) / TABLE_ROWS);
}

function known(v: Value | undefined): v is number {
  return v !== null && v !== undefined && Number.isFinite(v);
}

/** The last value up to t. */
export function valueAt(p: Points, t: number): Value {
  let low = 0;
  let high = p.t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((p.t[middle] as number) <= t) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? (p.v[low - 1] ?? null) : null;
}

interface Facts {
  least: number;
  most: number;
  mean: Value;
  last: Value;
}

function facts(c: Curve): Facts {
  const values = c.points.v.filter(known);
  const all = c.low ? values.concat(c.low.v.filter(known)) : values;
  const mean = values.length > 0 ? values.reduce((sum, v) => sum + v, 0) / values.length : null;
  return {
    least: all.reduce((a, b) => Math.min(a, b), Infinity),
    most: all.reduce((a, b) => Math.max(a, b), -Infinity),
    mean: c.points.whole ? c.points.whole.mean : mean,
    last: c.points.whole ? c.points.whole.last : (values[values.length - 1] ?? null),
  };
}

/** The range of the value axis: from 0, or below it, to a round number; or as given. */
export function range(curves: readonly Curve[], low?: number, high?: number): [number, number] {
  const all = curves.map(facts);
  const least = all.reduce((a, f) => Math.min(a, f.least), Infinity);
  const most = all.reduce((a, f) => Math.max(a, f.most), -Infinity);
  const from = low ?? (least < 0 ? -roundUp(-least) : 0);
  const to = high ?? roundUp(most);
  return [from, to > from ? to : from + 1];
}

function tellCurve(c: Curve, unit: string, sums: boolean): string {
  const f = facts(c);
  if (f.least > f.most) return '';
  if (f.least >= f.most) return `${c.name}: ${figure(f.most, unit)} throughout.`;
  if (c.kind === 'band') return `${c.name}: ${number(f.least)} to ${figure(f.most, unit)}.`;
  if (sums) return `${c.name}: ${figure(f.last, unit)} at the end.`;
  return `${c.name}: ${number(f.least)} to ${figure(f.most, unit)}, mean ${figure(f.mean, unit)}, ${figure(f.last, unit)} at the end.`;
}

/** The chart in words. sums: the curves only grow, so their mean says nothing. */
export function tell(curves: readonly Curve[], unit: string, sums = false): string {
  const told = curves.slice(0, TOLD_MAX).map((c) => tellCurve(c, unit, sums));
  return told.filter((text) => text !== '').join(' ') || 'Nothing is known.';
}

export interface Table {
  caption: string;
  columns: string[];
  rows: { head: string; cells: string[] }[];
}

/** The chart as a table: the values at some times. */
export function tabulate(title: string, curves: readonly Curve[], axis: TimeAxis): Table {
  const lines = curves.flatMap((c) =>
    c.low ? [{ name: 'lowest', points: c.low }, { name: 'highest', points: c.points }] : [{ name: c.name, points: c.points }],
  );
  return {
    caption: `${title}: the values at these times`,
    columns: [`Time (${timeZone()})`, ...lines.map((l) => l.name)],
    rows: tableTimes(axis).map((t, i) => ({
      head: dayAndClock(axis.start + t),
      cells: lines.map((l) => figure(l.points.whole ? l.points.whole.at[i] : valueAt(l.points, t))),
    })),
  };
}

/** The values at a time: "imbalance 0.12, target 0.1". */
export function read(curves: readonly Curve[], unit: string, t: number): string {
  return curves
    .flatMap((c) => (c.low ? [['highest', c.points] as const, ['lowest', c.low] as const] : [[c.name, c.points] as const]))
    .map(([name, points]) => `${name} ${figure(valueAt(points, t), unit)}`)
    .join(', ');
}
