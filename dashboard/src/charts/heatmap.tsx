// A map: rows of cells over time, dark to light.
import { useCallback, useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { TimeAxis } from './axes';
import { cssColour, Figure } from './figure';
import { figure } from './format';
import { paint, readCell, tabulateGrid, tellGrid, type Grid } from './grid';
import { visible } from './visible';

const NAMED_MAX = 40; // lines with a name each
const NAMED_PX = 14;
const HEIGHT_MAX = 400;
const HEIGHT_LEAST = 28;

export interface HeatMapProps {
  title: string;
  about: string;
  axis: TimeAxis;
  grid: Grid;
  /** The value of the lightest colour; 0 is the darkest */
  full: number;
  /** What a row is ("Host"), what its known values mean ("on"), and the unknown ones ("not on") */
  rowKind: string;
  knownKind: string;
  unknownKind: string;
}

function image(grid: Grid, lines: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = grid.columns;
  canvas.height = lines;
  const context = canvas.getContext('2d');
  context?.putImageData(new ImageData(paint(grid) as Uint8ClampedArray<ArrayBuffer>, grid.columns, lines), 0, 0);
  return canvas;
}

export function HeatMap(p: HeatMapProps) {
  const { grid } = p;
  const lines = Math.ceil(grid.rows.length / grid.fold);
  const drawing = useCallback(() => {
    const cells = image(grid, lines);
    const named = Array.from({ length: lines }, (_, i) => i).filter((i) => lines <= NAMED_MAX || i === 0 || i === lines - 1);
    return {
      series: [{ show: false }],
      data: [[p.axis.from, p.axis.to], [null, null]] as uPlot.AlignedData,
      range: [0, lines] as [number, number],
      rows: true,
      ticks: named.map((i) => ({ at: lines - i - 0.5, label: shorten(visible(grid.rows[i * grid.fold]?.name ?? '')) })).reverse(),
      draw: (u: uPlot) => {
        const { left, top, width, height } = u.bbox;
        u.ctx.save();
        u.ctx.fillStyle = cssColour('--off');
        u.ctx.fillRect(left, top, width, height);
        u.ctx.imageSmoothingEnabled = false;
        u.ctx.drawImage(cells, left, top, width, height);
        u.ctx.restore();
      },
    };
  }, [grid]);
  const sentence = useMemo(() => tellGrid(grid), [grid]);
  const table = useMemo(() => tabulateGrid(p.title, grid, p.rowKind, p.knownKind), [grid]);
  const span = p.axis.to - p.axis.from;
  return (
    <Figure
      title={p.title}
      about={grid.fold > 1 ? `${p.about} Each line is the highest of ${grid.fold}.` : p.about}
      axis={p.axis}
      sentence={sentence}
      table={table}
      height={Math.max(HEIGHT_LEAST, Math.min(HEIGHT_MAX, lines <= NAMED_MAX ? lines * NAMED_PX : lines))}
      legend={
        <p class="scale">
          0<span class="colours" />
          {figure(p.full)} and more
          <span class="off" />
          {p.unknownKind}
        </p>
      }
      drawing={drawing}
      read={(t, down) => readCell(grid, (t - p.axis.from) / span, down, p.unknownKind)}
    />
  );
}

/** As much of a name as the margin holds; the table has the whole. */
function shorten(name: string): string {
  return name.length <= 9 ? name : `${name.slice(0, 8)}…`;
}
