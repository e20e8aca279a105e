// A chart of lines, steps, bands or bars over time.
import { useCallback, useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { valueTicks, type TimeAxis } from './axes';
import { range, read, tabulate, tell, type Curve, type Points } from './curves';
import { cssColour, Figure } from './figure';
import { shortNumber } from './format';
import { visible } from './visible';

const HEIGHT = 190;
const HIDDEN = 'rgba(0,0,0,0)';
/** From the fifth colour on curves differ by their dashes too. */
const DASHES: Record<number, number[]> = { 4: [8, 3], 5: [3, 3], 6: [6, 4], 7: [10, 3, 2, 3] };
/** How a curve stands in the legend, classes of charts.css. */
const SIGNS: Record<Curve['kind'], string> = { line: 'line', steps: 'line', dashed: 'line dashed', band: 'area', bars: 'block' };
const DASHED = [6, 4];

export interface ChartProps {
  title: string;
  about: string;
  unit?: string;
  axis: TimeAxis;
  curves: Curve[];
  low?: number;
  high?: number;
  /** The curves only grow */
  sums?: boolean;
}

function linePaths(kind: Curve['kind']): uPlot.Series.PathBuilder | undefined {
  if (kind === 'steps' || kind === 'dashed') return uPlot.paths.stepped?.({ align: 1 });
  if (kind === 'bars') return uPlot.paths.bars?.({ size: [0.85, Infinity], align: 0 });
  return uPlot.paths.linear?.();
}

function seriesOf(c: Curve, edge: boolean): uPlot.Series {
  const colour = () => cssColour(`--s${c.style}`);
  const dash = c.kind === 'dashed' ? DASHED : DASHES[c.style];
  const paths = linePaths(c.kind);
  return {
    label: visible(c.name),
    stroke: c.kind === 'bars' ? HIDDEN : colour,
    width: edge ? 0.8 : c.kind === 'dashed' ? 1.4 : 1.7,
    points: { show: c.points.v.length === 1 && c.kind !== 'bars' },
    ...(c.kind === 'bars' ? { fill: colour } : {}),
    ...(dash ? { dash } : {}),
    ...(paths ? { paths } : {}),
  };
}

/** The curves on common times. */
function align(lines: Points[]): uPlot.AlignedData {
  const tables = lines.map((p) => [p.t, p.v] as unknown as uPlot.AlignedData);
  return tables.length > 0 ? uPlot.join(tables) : ([[]] as unknown as uPlot.AlignedData);
}

function Legend({ curves }: { curves: Curve[] }) {
  return (
    <ul class="legend">
      {curves.map((c) => (
        <li key={c.name}>
          <svg viewBox="0 0 24 8" aria-hidden="true">
            <path class={`s${c.style} ${SIGNS[c.kind]}`} d={c.kind === 'band' || c.kind === 'bars' ? 'M0,0H24V8H0Z' : 'M0,4H24'} />
          </svg>
          {c.name}
        </li>
      ))}
    </ul>
  );
}

export function Chart(p: ChartProps) {
  const unit = p.unit ?? '';
  const drawing = useCallback(() => {
    const series: uPlot.Series[] = [];
    const bands: uPlot.Band[] = [];
    const lines: Points[] = [];
    for (const c of p.curves) {
      series.push(seriesOf(c, c.kind === 'band'));
      lines.push(c.points);
      if (!c.low) continue;
      series.push(seriesOf(c, true));
      lines.push(c.low);
      bands.push({ series: [lines.length - 1, lines.length], fill: () => cssColour(`--area${c.style}`) });
    }
    const [low, high] = range(p.curves, p.low, p.high);
    return {
      series,
      bands,
      data: align(lines),
      range: [low, high] as [number, number],
      ticks: valueTicks(low, high).map((at) => ({ at, label: shortNumber(at) })),
    };
  }, [p.curves]);
  const sentence = useMemo(() => tell(p.curves, unit, p.sums), [p.curves]);
  const table = useMemo(() => tabulate(p.title, p.curves, p.axis), [p.curves]);
  return (
    <Figure
      title={unit ? `${p.title}, ${unit}` : p.title}
      about={p.about}
      axis={p.axis}
      sentence={sentence}
      table={table}
      height={HEIGHT}
      legend={p.curves.length > 1 && <Legend curves={p.curves} />}
      drawing={drawing}
      read={(t) => read(p.curves, unit, t)}
    />
  );
}
