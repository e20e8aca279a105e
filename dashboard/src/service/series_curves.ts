// Curves of what the service keeps over time.
import type { Value } from '../charts/curves';
import type { Drawn } from './power_curves';

const NEWEST = 5; // looks that may be missing before the last one is old

export interface Series {
  since: string | null;
  step_s: number;
  points: number;
  /** By figure its values; without those that this kind does not have */
  figures: Record<string, (number | null)[]>;
}

export interface Wish {
  figure: string;
  name: string;
  kind: 'steps' | 'dashed' | 'line';
  style: number;
}

/** Each value stands until the next one, for at most `most` points. */
function held(values: readonly (number | null)[], most: number): (number | null)[] {
  let last: number | null = null;
  let age = 0;
  return values.map((v) => {
    age = v === null ? age + 1 : 0;
    last = v ?? last;
    return age <= most ? last : null;
  });
}

/** The figures that are there, each value divided by `scale`; null: nothing is known of them. holdS: for how long a value stands. */
export function seriesCurves(s: Series, wishes: readonly Wish[], scale: number, holdS = 0): Drawn | null {
  const known = wishes.filter((w) => s.figures[w.figure]?.some((v) => v !== null));
  if (s.since === null || known.length === 0) return null;
  const t = Array.from({ length: s.points }, (_, i) => i * s.step_s);
  return {
    axis: { start: Date.parse(s.since) / 1000, from: 0, to: Math.max(60, s.points * s.step_s) },
    curves: known.map((w) => ({
      name: w.name,
      kind: w.kind,
      style: w.style,
      points: { t, v: held(s.figures[w.figure] ?? [], Math.floor(holdS / s.step_s)).map((v): Value => (v === null ? null : v / scale)) },
    })),
  };
}

/** The newest value that is known, of the last `points` times. */
export function latest(s: Series, figure: string, points = Infinity): number | null {
  const values = s.figures[figure] ?? [];
  for (let i = values.length - 1; i >= Math.max(0, values.length - points); i--) {
    const v = values[i];
    if (v !== null && v !== undefined) return v;
  }
  return null;
}

/** VMs that got less than LITTLE of what was due to them, and those of which that is not known, at the newest look. */
export function suffering(s: Series): { vms: number; unknown: number } | null {
  const [fair, bad, unknown] = ['vms_from_80', 'vms_below_80', 'vms_unknown'].map((f) => latest(s, f, NEWEST));
  if (fair === null || fair === undefined || bad === null || bad === undefined) return null;
  return { vms: fair + bad, unknown: unknown ?? 0 };
}
