// What a heat map draws: rows of cells over time; and how it is told in a sentence and in a table.
import { figure } from './format';
import type { Table } from './curves';

export interface Row {
  name: string;
  mean: number | null;
  highest: number | null;
  /** Percent of the time in which the value was known */
  known: number;
}

export interface Grid {
  rows: readonly Row[];
  /** How many rows each line of cells holds: its highest */
  fold: number;
  columns: number;
  /** Line by line, a number in percent of `full`; NaN: not known */
  cells: Float32Array;
}

/** Matplotlib's viridis: dark to light, readable with colour blindness and in grey. */
const ANCHORS = [
  [0x44, 0x01, 0x54], [0x48, 0x28, 0x78], [0x3e, 0x49, 0x89], [0x31, 0x68, 0x8e], [0x26, 0x82, 0x8e],
  [0x1f, 0x9e, 0x89], [0x35, 0xb7, 0x79], [0x6e, 0xce, 0x58], [0xb5, 0xde, 0x2b], [0xfd, 0xe7, 0x25],
] as const;

/** 0 ... 1, and beyond: the lightest. */
export function colour(part: number): [number, number, number] {
  const at = Math.min(Math.max(part, 0), 1) * (ANCHORS.length - 1);
  const low = Math.min(Math.floor(at), ANCHORS.length - 2);
  const [a, b] = [ANCHORS[low], ANCHORS[low + 1]] as [readonly number[], readonly number[]];
  return [0, 1, 2].map((c) => Math.round((a[c] as number) * (1 - at + low) + (b[c] as number) * (at - low))) as [number, number, number];
}

export const NOT_KNOWN = 0xff;
export const AT_LEAST = 0xfe;

/** Reads lines of cells: two hexadecimal digits each, in percent; ff: not known. */
export function parseCells(lines: readonly string[]): { columns: number; cells: Float32Array } {
  const columns = Math.floor((lines[0] ?? '').length / 2);
  const cells = new Float32Array(columns * lines.length);
  lines.forEach((line, row) => {
    for (let c = 0; c < columns; c++) {
      const v = parseInt(line.slice(2 * c, 2 * c + 2), 16);
      cells[row * columns + c] = v === NOT_KNOWN ? NaN : v;
    }
  });
  return { columns, cells };
}

/** RGBA, a pixel a cell; not known: transparent. */
export function paint(grid: Grid): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(4 * grid.cells.length);
  grid.cells.forEach((v, i) => {
    if (!Number.isNaN(v)) pixels.set([...colour(v / 100), 255], 4 * i);
  });
  return pixels;
}

function lineName(grid: Grid, line: number): string {
  const first = grid.rows[line * grid.fold];
  const last = grid.rows[Math.min((line + 1) * grid.fold, grid.rows.length) - 1];
  return first === last ? (first?.name ?? '') : `${first?.name} to ${last?.name}`;
}

/** The cell at a place, each part 0 ... 1: "esx-3 0.52". */
export function readCell(grid: Grid, across: number, down: number, unknown: string): string {
  const lines = grid.cells.length / grid.columns;
  const column = Math.min(Math.max(Math.floor(across * grid.columns), 0), grid.columns - 1);
  const line = Math.min(Math.max(Math.floor(down * lines), 0), lines - 1);
  const v = grid.cells[line * grid.columns + column] as number;
  const value = Number.isNaN(v) ? unknown : `${v >= AT_LEAST ? 'at least ' : ''}${figure(v / 100)}`;
  return `${lineName(grid, line)} ${value}`;
}

function top(rows: readonly Row[], of: (r: Row) => number | null): Row | undefined {
  return rows.reduce<Row | undefined>((best, r) => (best === undefined || (of(r) ?? -1) > (of(best) ?? -1) ? r : best), undefined);
}

export function tellGrid(grid: Grid): string {
  const highest = top(grid.rows, (r) => r.highest);
  const busiest = top(grid.rows, (r) => r.mean);
  if (!highest || !busiest) return 'Nothing is known.';
  return `Highest: ${figure(highest.highest)} on ${highest.name}. Highest mean: ${figure(busiest.mean)} on ${busiest.name}.`;
}

export function tabulateGrid(title: string, grid: Grid, rowKind: string, knownKind: string): Table {
  return {
    caption: title,
    columns: [rowKind, 'mean', 'highest', `${knownKind}, % of the time`],
    rows: grid.rows.map((r) => ({ head: r.name, cells: [figure(r.mean), figure(r.highest), figure(r.known)] })),
  };
}
