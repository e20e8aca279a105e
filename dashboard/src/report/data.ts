// The JSON that `ballast simulate --report` embeds in the page; written by src/sim/report/page_json.c.

export type Figure = number | null;

/** A figure over time: v at the run's times; mean, last and at[] (at the times of the plots' tables) are those of all samples. */
export interface CurveData {
  mean: Figure;
  last: Figure;
  at: Figure[];
  v: Figure[];
}

/** The load of each host. */
export interface LoadData {
  lowest: CurveData;
  median: CurveData;
  highest: CurveData;
  /** Hosts that share a line of cells, which holds the highest of them */
  hosts_a_line: number;
  /** A line of cells each, see parseCells() */
  cells: string[];
  /** Of each host over time */
  mean: Figure[];
  most: Figure[];
  on_percent: number[];
}

export const CURVES = [
  'imbalance', 'target', 'watts', 'kwh', 'hosts_on', 'happiness', 'wanted_cpu', 'delivered_cpu', 'wanted_mem', 'delivered_mem',
] as const;
export type CurveName = (typeof CURVES)[number];

export interface Run {
  /** Empty, or A and B */
  name: string;
  hosts: string[];
  power_model: boolean;
  /** Mean power, were all hosts on */
  all_on_w: Figure;
  t_s: number[];
  curves: Record<CurveName, CurveData>;
  n_pools: number;
  /** Those that are worst off, if there are many */
  pools: { name: string; happiness: CurveData }[];
  /** Migrations begun in each period from the beginning */
  moves: { period_s: number; per_pass: boolean; begun: number[] };
  load: { cpu: LoadData; mem: LoadData } | null;
}

export interface TableData {
  heading: string;
  caption: string;
  /** Shown when it is opened; the text to open it with */
  summary: string | null;
  columns: string[];
  rows: ({ group: string } | { head: string; note: string | null; differs: boolean; cells: string[] })[];
}

export interface Report {
  format: string;
  title: string;
  about: string[];
  notes: string[];
  tiles: { what: string; value: string; note: string }[];
  start: number;
  from_s: number;
  to_s: number;
  runs: Run[];
  tables: TableData[];
}

export const FORMAT = 'ballast-report/1';

/** What stands in the page, or why it cannot be shown. */
export function parseReport(text: string): Report | string {
  if (text.trim() === '') return 'This page holds no simulation. Make one: ballast simulate SCENARIO.yaml --report FILE.html';
  const data = JSON.parse(text) as Report;
  return data.format === FORMAT ? data : `This page shows ${FORMAT}, and its data is ${data.format}: page and program differ in version.`;
}
