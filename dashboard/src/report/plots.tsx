// The plots of the report, in the order in which an admin asks for them. What is one line a run is drawn in one plot; the rest
// stands side by side, on the same scales.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { countUp, roundUp, type TimeAxis } from '../charts/axes';
import { Chart } from '../charts/chart';
import type { Curve, Points, Value } from '../charts/curves';
import { duration } from '../charts/format';
import { parseCells, type Grid } from '../charts/grid';
import { HeatMap } from '../charts/heatmap';
import type { CurveData, CurveName, LoadData, Report, Run } from './data';

const TARGET_STYLE = 6;

export function points(run: Run, c: CurveData): Points {
  return { t: run.t_s, v: c.v, whole: { mean: c.mean, last: c.last, at: c.at } };
}

function greatest(lists: readonly (readonly Value[])[]): number {
  return lists.reduce((most, list) => list.reduce<number>((a, v) => Math.max(a, v ?? a), most), -Infinity);
}

function least(lists: readonly (readonly Value[])[]): number {
  return lists.reduce((low, list) => list.reduce<number>((a, v) => Math.min(a, v ?? a), low), Infinity);
}

/** The lower end of the axis of percentages: round quarters up to 100. */
export function percentFrom(low: number): number {
  return [96, 92, 80, 60, 20].find((from) => low >= from) ?? 0;
}

function titled(run: Run, title: string): string {
  return run.name === '' ? title : `${run.name}: ${title}`;
}

/** A curve for each run. */
function together(runs: Run[], alone: string, of: CurveName, kind: Curve['kind']): Curve[] {
  return runs.map((run, i) => ({ name: run.name || alone, kind, style: i, points: points(run, run.curves[of]) }));
}

function allOn(run: Run, axis: TimeAxis): Curve[] {
  if (run.all_on_w === null) return [];
  const { all_on_w: w } = run;
  return [{ name: 'mean, were all hosts on', kind: 'dashed', style: TARGET_STYLE, points: { t: [axis.from, axis.to], v: [w, w] } }];
}

function happiness(run: Run): Curve[] {
  if (run.pools.length === 0) return [{ name: 'all VMs', kind: 'line', style: 0, points: points(run, run.curves.happiness) }];
  return run.pools.map((pool, i) => ({ name: pool.name, kind: 'line', style: i, points: points(run, pool.happiness) }));
}

function wanted(run: Run, r: 'cpu' | 'mem'): Curve[] {
  return [
    { name: 'wanted', kind: 'dashed', style: 1, points: points(run, run.curves[`wanted_${r}`]) },
    { name: 'delivered', kind: 'line', style: 0, points: points(run, run.curves[`delivered_${r}`]) },
  ];
}

function moves(run: Run): Curve[] {
  const { period_s: period, begun } = run.moves;
  const from = run.t_s[0] ?? 0;
  return [{ name: 'moves', kind: 'bars', style: run.name === 'B' ? 1 : 0, points: { t: begun.map((_, i) => from + (i + 0.5) * period), v: begun } }];
}

function band(run: Run, load: LoadData): Curve[] {
  return [
    { name: 'lowest to highest', kind: 'band', style: 0, points: points(run, load.highest), low: points(run, load.lowest) },
    { name: 'median', kind: 'line', style: 0, points: points(run, load.median) },
  ];
}

export function gridOf(run: Run, load: LoadData): Grid {
  const rows = run.hosts.map((name, i) => ({
    name,
    mean: load.mean[i] ?? null,
    highest: load.most[i] ?? null,
    known: load.on_percent[i] ?? 0,
  }));
  return { rows, fold: load.hosts_a_line, ...parseCells(load.cells) };
}

function Load({ run, axis, r, what, most }: { run: Run; axis: TimeAxis; r: 'cpu' | 'mem'; what: string; most: number }) {
  const load = run.load?.[r];
  const curves = useMemo(() => (load ? band(run, load) : []), [load]);
  const grid = useMemo(() => (load ? gridOf(run, load) : null), [load]);
  if (!grid) return null;
  return (
    <div>
      <Chart
        title={titled(run, `${what} load of hosts`)}
        about="Of the hosts that are on; the closer together, the better the balance."
        axis={axis}
        curves={curves}
        high={roundUp(most)}
      />
      <HeatMap
        title={titled(run, `${what} load, host by host`)}
        about="What a host's VMs are entitled to, of what it has."
        axis={axis}
        grid={grid}
        full={1}
        rowKind="Host"
        knownKind="on"
        unknownKind="not on"
      />
    </div>
  );
}

export function Plots({ report }: { report: Report }) {
  const { runs } = report;
  const axis = useMemo(() => ({ start: report.start, from: report.from_s, to: report.to_s }), [report]);
  const first = runs[0];
  if (!first || first.t_s.length === 0) return <p>No series was kept.</p>;
  const each = (one: (run: Run) => ComponentChildren) =>
    runs.length > 1 ? <div class="pair">{runs.map(one)}</div> : runs.map(one);
  const mostLoad = (r: 'cpu' | 'mem') => Math.max(1, greatest(runs.map((run) => run.load?.[r].highest.v ?? [])));
  const mostWanted = (r: 'cpu' | 'mem') => roundUp(greatest(runs.map((run) => run.curves[`wanted_${r}`].v)));
  const mostMoves = countUp(greatest(runs.map((run) => run.moves.begun)));
  const percentLow = percentFrom(Math.min(100, least(runs.flatMap((run) => happiness(run).map((c) => c.points.v)))));
  const wantedAbout = 'By all VMs together. Where the lines part, some VMs go short.';
  return (
    <>
      <Chart
        title="Imbalance"
        about="How unevenly hosts are loaded; below the target nothing needs to be moved."
        axis={axis}
        curves={[
          ...together(runs, 'imbalance', 'imbalance', 'line'),
          { name: 'target', kind: 'dashed', style: TARGET_STYLE, points: points(first, first.curves.target) },
        ]}
      />
      {each((run) => <Load key={run.name} run={run} axis={axis} r="cpu" what="CPU" most={mostLoad('cpu')} />)}
      {each((run) => (
        <Chart
          key={run.name}
          title={titled(run, run.moves.per_pass ? 'Migrations begun per pass' : 'Migrations begun')}
          about={`A bar is ${duration(run.moves.period_s)}.`}
          axis={axis}
          curves={moves(run)}
          high={mostMoves}
        />
      ))}
      {each((run) => (
        <Chart
          key={run.name}
          title={titled(run, run.pools.length > 0 ? 'CPU got of the entitlement, by pool' : 'CPU got of the entitlement')}
          about={`What VMs got of the CPU that they were entitled to${run.pools.length < run.n_pools ? '; the pools that are worst off' : ''}.`}
          unit="%"
          axis={axis}
          curves={happiness(run)}
          low={percentLow}
          high={100}
        />
      ))}
      {first.power_model && (
        <>
          <Chart title="Power" about="Of all hosts, boots and standby included." unit="W" axis={axis} curves={[...together(runs, 'power', 'watts', 'line'), ...allOn(first, axis)]} />
          <Chart title="Energy" about="Used so far." unit="kWh" axis={axis} curves={together(runs, 'energy', 'kwh', 'line')} sums />
        </>
      )}
      <Chart
        title="Hosts on"
        about="That can run VMs."
        axis={axis}
        curves={together(runs, 'hosts on', 'hosts_on', 'steps')}
        high={countUp(Math.max(...runs.map((run) => run.hosts.length)))}
      />
      {each((run) => (
        <Chart key={run.name} title={titled(run, 'CPU wanted and delivered')} about={wantedAbout} unit="MHz" axis={axis} curves={wanted(run, 'cpu')} high={mostWanted('cpu')} />
      ))}
      {each((run) => (
        <Chart key={run.name} title={titled(run, 'Memory wanted and delivered')} about={wantedAbout} unit="MiB" axis={axis} curves={wanted(run, 'mem')} high={mostWanted('mem')} />
      ))}
      {each((run) => <Load key={run.name} run={run} axis={axis} r="mem" what="Memory" most={mostLoad('mem')} />)}
    </>
  );
}
