// One plot as a whole: title, legend, drawing, the sentence that tells it (or the values under the cursor), and its table.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { timeTicks, type TimeAxis } from './axes';
import type { Table } from './curves';
import { timestamp } from './format';

const AXIS_HEIGHT = 38;
const TICK_ROOM = 80; // pixels that a time label needs
const NARROW = 560;
const KEY_STEP = 0.01;
const OUTSIDE = { left: -10, top: -10 };
const SYNC = 'time';

/** A colour of charts.css; it differs between light and dark pages. */
export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function font(): string {
  const em = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return `${Math.round(0.75 * em)}px ${getComputedStyle(document.body).fontFamily}`;
}

interface Drawing {
  series: uPlot.Series[];
  bands?: uPlot.Band[];
  data: uPlot.AlignedData;
  /** The value axis, from bottom to top */
  range: [number, number];
  ticks: { at: number; label: string }[];
  /** No grid lines across: the rows of a map are lines enough */
  rows?: boolean;
  draw?: (u: uPlot) => void;
}

export interface FigureProps {
  title: string;
  about: string;
  axis: TimeAxis;
  sentence: string;
  table: Table;
  /** Of the drawing alone, in pixels */
  height: number;
  legend?: ComponentChildren;
  drawing: () => Drawing;
  /** The values at a time and at a height, 0 (top) ... 1 */
  read: (t: number, down: number) => string;
}

/** What is drawn now; a plot reads it anew at each drawing. */
interface Shown {
  p: FigureProps;
  d: Drawing;
}

/** Equal for drawings that differ in their values alone: the plot stays, and new values cost little. */
function shape(d: Drawing): string {
  return JSON.stringify([d.series.map((s) => [s.label, s.width, s.dash, s.points]), d.bands?.map((b) => b.series), d.rows]);
}

function options(shown: () => Shown, width: number, onCursor: (u: uPlot) => void): uPlot.Options {
  const { p, d } = shown();
  const narrow = width < NARROW;
  const size = narrow ? 46 : 64;
  const times = () => timeTicks(shown().p.axis, Math.min(8, Math.max(2, Math.floor((width - size) / TICK_ROOM))));
  const common = { font: font(), stroke: () => cssColour('--soft'), ticks: { show: false } };
  const grid = { stroke: () => cssColour('--rule'), width: 1 };
  return {
    width,
    height: p.height + AXIS_HEIGHT,
    padding: [8, 20, 0, 0], // half a time label fits on the right
    legend: { show: false },
    focus: { alpha: 1 },
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { show: false },
      sync: { key: SYNC, setSeries: false, scales: ['x', null] },
    },
    scales: { x: { time: false, range: () => [shown().p.axis.from, shown().p.axis.to] }, y: { range: () => shown().d.range } },
    axes: [
      { ...common, grid: { ...grid, show: !d.rows }, size: AXIS_HEIGHT - 2, gap: 4, splits: () => times().map((t) => t.t), values: () => times().map((t) => t.label) },
      { ...common, grid: { ...grid, show: !d.rows }, size, gap: 4, splits: () => shown().d.ticks.map((t) => t.at), values: () => shown().d.ticks.map((t) => t.label) },
    ],
    series: [{}, ...d.series],
    bands: d.bands ?? [],
    hooks: { draw: [(u) => shown().d.draw?.(u)], setCursor: [onCursor] },
  };
}

/** A table within a box that scrolls, by keyboard too. */
export function DataTable({ table }: { table: Table }) {
  return (
    <div class="scroll" role="region" aria-label={table.caption} tabIndex={0}>
      <table>
        <caption>{table.caption}</caption>
        <thead>
          <tr>{table.columns.map((c) => <th scope="col" key={c}>{c}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.map((r, i) => (
            <tr key={i}>
              <th scope="row">{r.head}</th>
              {r.cells.map((c, k) => <td key={k}>{c}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The table of a plot, made when it is opened: a page may have thousands of rows of hosts. */
function Folded({ table }: { table: Table }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>As a table</summary>
      {open && <DataTable table={table} />}
    </details>
  );
}

export function Figure(p: FigureProps) {
  const host = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLParagraphElement>(null);
  const plot = useRef<uPlot>();
  const shown = useRef<Shown>();
  const draw = useRef<() => void>(() => undefined);
  const active = useRef(false);
  const [reading, setReading] = useState<string>();
  const [byKey, setByKey] = useState(false);

  useEffect(() => {
    const before = shown.current;
    const d = p.drawing();
    shown.current = { p, d };
    if (!plot.current || !before) return;
    if (shape(before.d) === shape(d) && before.p.height === p.height) {
      plot.current.setData(d.data);
      return;
    }
    plot.current.destroy();
    plot.current = undefined;
    draw.current();
  }, [p.drawing]);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const now = () => shown.current as Shown;
    const onCursor = (u: uPlot) => {
      const { left = -1, top = -1 } = u.cursor;
      if (!active.current || left < 0) {
        setReading(undefined);
        return;
      }
      const t = u.posToVal(left, 'x');
      setReading(`${timestamp(now().p.axis.start + t)}: ${now().p.read(t, top / u.over.clientHeight)}`);
    };
    const redo = () => {
      const width = element.clientWidth;
      if (width === 0 || plot.current?.width === width) return;
      plot.current?.destroy();
      plot.current = new uPlot(options(now, width, onCursor), now().d.data, element);
    };
    draw.current = redo;
    const recolour = () => plot.current?.redraw(false, true);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const resized = new ResizeObserver(redo);
    resized.observe(element);
    scheme.addEventListener('change', recolour);
    redo();
    return () => {
      resized.disconnect();
      scheme.removeEventListener('change', recolour);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);

  const enter = () => {
    const p = words.current;
    // Values need fewer lines than the sentence: what is below must not move.
    if (p && !active.current) p.style.minHeight = `${p.offsetHeight}px`;
    active.current = true;
  };
  const leave = () => {
    active.current = false;
    if (words.current) words.current.style.minHeight = '';
    setByKey(false);
    plot.current?.setCursor(OUTSIDE);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const by = { ArrowLeft: -KEY_STEP, ArrowRight: KEY_STEP }[e.key];
    const u = plot.current;
    if (!by || !u) return;
    e.preventDefault();
    enter();
    setByKey(true);
    const width = u.over.clientWidth;
    const left = Math.min(width, Math.max(0, Math.max(u.cursor.left ?? 0, 0) + by * width));
    const top = (u.cursor.top ?? -1) < 0 ? u.over.clientHeight / 2 : (u.cursor.top as number);
    u.setCursor({ left, top });
  };
  return (
    <figure>
      <figcaption>
        <h3>{p.title}</h3>
        <p>{p.about}</p>
      </figcaption>
      {p.legend}
      <div
        class="plot"
        ref={host}
        role="img"
        aria-label={`${p.title}. ${p.sentence}`}
        tabIndex={0}
        onPointerEnter={enter}
        onPointerLeave={leave}
        onBlur={leave}
        onKeyDown={onKeyDown}
        style={{ minHeight: `${p.height + AXIS_HEIGHT}px` }}
      />
      <p class="reading" ref={words} aria-live={byKey ? 'polite' : 'off'}>{reading ?? p.sentence}</p>
      <Folded table={p.table} />
    </figure>
  );
}
