// The course of the last day as the service keeps it: the imbalance at each pass, and how many VMs got less than was due to them.
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart';
import { seriesCurves, suffering, type Series } from './series_curves';
import { Missing, useReply } from './store';
import { LITTLE } from './words';

const IMBALANCE = [
  { figure: 'imbalance_before', name: 'before the pass', kind: 'steps', style: 0 },
  { figure: 'imbalance_after', name: 'expected after its moves', kind: 'dashed', style: 2 },
] as const;
const SCORES = [
  { figure: 'vms_below_80', name: 'less than 80 %', kind: 'steps', style: 1 },
  { figure: 'vms_from_80', name: '80 to 95 %', kind: 'steps', style: 0 },
  { figure: 'vms_from_95', name: '95 to 99 %', kind: 'dashed', style: 2 },
] as const;
const HOURS = 24;
const EVERY_MS = 60000;
const HELD = 2; // intervals for which a pass counts: then the next one is missing

/** The cluster's figures since then. */
function useSeries(since: string) {
  return useReply<{ series: Series }>(`/series?since=${since}`, EVERY_MS);
}

/** A day ago, as long as the page is shown. */
export function useDayAgo(): string {
  return useState(() => new Date(Math.floor(Date.now() / 60000) * 60000 - HOURS * 3600e3).toISOString().replace(/\.\d+/, ''))[0];
}

export function Imbalance({ since, target, intervalS }: { since: string; target: number | null; intervalS: number }) {
  const { data, problem } = useSeries(since);
  const drawn = useMemo(() => {
    const is = data ? seriesCurves(data.series, IMBALANCE, 1, HELD * intervalS) : null;
    if (is && target !== null) is.curves.push({ name: 'target now', kind: 'dashed', style: 1, points: { t: [is.axis.from, is.axis.to], v: [target, target] } });
    return is;
  }, [data, target, intervalS]);
  return (
    <>
      <Missing data={data} problem={problem} />
      {data && !drawn && <p class="soft">No figures of the last day yet: the first comes within a minute.</p>}
      {drawn && <Chart title="Imbalance of the cluster" about="In the last day. Below the target nothing is moved for balance." axis={drawn.axis} curves={drawn.curves} low={0} />}
    </>
  );
}

export function Scores({ since }: { since: string }) {
  const { data, problem } = useSeries(since);
  const drawn = useMemo(() => (data ? seriesCurves(data.series, SCORES, 1) : null), [data]);
  return (
    <>
      <Missing data={data} problem={problem} />
      {data && !drawn && <p class="soft">No figures of the last day yet.</p>}
      {drawn && <Chart title="VMs that got less than was due" about="In the last day; the others got 99 % or more. Due is a VM's demand, but no more than its entitlement." axis={drawn.axis} curves={drawn.curves} low={0} />}
    </>
  );
}

/** How many VMs got too little in the last minute. */
export function useSuffering(since: string): { value: string; note: string; bad: boolean } {
  const { data } = useSeries(since);
  const is = data ? suffering(data.series) : null;
  if (!is) return { value: '-', note: 'not known', bad: false };
  const unknown = is.unknown > 0 ? `; not known of ${Math.round(is.unknown)}` : '';
  const vms = Math.round(is.vms);
  return { value: String(vms), note: `got less than ${LITTLE} % of what was due in the last minute${unknown}`, bad: vms > 0 };
}
