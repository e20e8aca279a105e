// The course of the imbalance: at each pass, as the service keeps it.
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart';
import { seriesCurves, type Series } from './series_curves';
import { Missing, useReply } from './store';

const WISHES = [
  { figure: 'imbalance_before', name: 'before the pass', kind: 'steps', style: 0 },
  { figure: 'imbalance_after', name: 'expected after its moves', kind: 'dashed', style: 2 },
] as const;
const HOURS = 24;

const HELD = 2; // intervals for which a pass counts: then the next one is missing

export function Imbalance({ target, intervalS }: { target: number | null; intervalS: number }) {
  const [since] = useState(() => new Date(Math.floor(Date.now() / 60000) * 60000 - HOURS * 3600e3).toISOString().replace(/\.\d+/, ''));
  const { data, problem } = useReply<{ series: Series }>(`/series?since=${since}`, 60000);
  const drawn = useMemo(() => {
    const is = data ? seriesCurves(data.series, WISHES, 1, HELD * intervalS) : null;
    if (is && target !== null) is.curves.push({ name: 'target now', kind: 'dashed', style: 1, points: { t: [is.axis.from, is.axis.to], v: [target, target] } });
    return is;
  }, [data, target, intervalS]);
  return (
    <>
      <Missing data={data} problem={problem} />
      {data && !drawn && <p class="soft">Nothing is kept of the last day yet: the first point comes within a minute.</p>}
      {drawn && <Chart title="Imbalance of the cluster" about="In the last day. Below the target nothing is moved for balance." axis={drawn.axis} curves={drawn.curves} low={0} />}
    </>
  );
}
