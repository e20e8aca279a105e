// Demand, entitlement and what was delivered over time, of a VM, a host or a pool.
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart';
import { figure } from '../charts/format';
import { latest, seriesCurves, type Series, type Wish } from './series_curves';
import { Missing, useReply } from './store';

const EVERY_MS = 60000;
const PERIODS = [
  { name: '24 hours', hours: 24 },
  { name: '7 days', hours: 7 * 24 },
  { name: '30 days', hours: 30 * 24 },
];

function wishes(resource: 'cpu' | 'mem'): Wish[] {
  return [
    { figure: `${resource}_demand`, name: 'demand', kind: 'steps', style: 0 },
    { figure: `${resource}_entitlement`, name: 'entitled to', kind: 'dashed', style: 1 },
    { figure: `${resource}_delivered`, name: 'delivered', kind: 'steps', style: 2 },
    { figure: `${resource}_capacity`, name: 'capacity', kind: 'dashed', style: 6 },
  ];
}

const CHARTS: { title: string; unit: string; about: string; scale: number; high?: number; wishes: Wish[] }[] = [
  { title: 'CPU', unit: 'GHz', about: 'Demand, entitlement, and CPU delivered.', scale: 1000, wishes: wishes('cpu') },
  { title: 'Memory', unit: 'GiB', about: 'Demand, entitlement, and host memory delivered.', scale: 1024, wishes: wishes('mem') },
  {
    title: 'Score', unit: '%', about: 'The part delivered of what was due: the demand, but no more than the entitlement.', scale: 1, high: 100,
    wishes: [
      { figure: 'cpu_score', name: 'CPU', kind: 'steps', style: 0 },
      { figure: 'mem_score', name: 'memory', kind: 'steps', style: 1 },
    ],
  },
  { title: 'Power', unit: 'W', about: 'Power draw of the host.', scale: 1, wishes: [{ figure: 'power_w', name: 'power', kind: 'steps', style: 5 }] },
];

/** route: of the VM, the host or the pool. */
export function Course({ route }: { route: string }) {
  const [hours, setHours] = useState(24);
  const since = useMemo(() => new Date(Math.floor(Date.now() / 60000) * 60000 - hours * 3600e3).toISOString().replace(/\.\d+/, ''), [hours]);
  const { data, problem } = useReply<{ series: Series }>(`${route}/series?since=${since}`, EVERY_MS);
  const s = data?.series;
  const drawn = useMemo(() => (s ? CHARTS.map((c) => ({ ...c, is: seriesCurves(s, c.wishes, c.scale) })).filter((c) => c.is !== null) : []), [s]);
  const scores = s ? [latest(s, 'cpu_score'), latest(s, 'mem_score')].filter((v): v is number => v !== null) : [];
  return (
    <section>
      <h2>Over time</h2>
      <p class="choices" role="group" aria-label="Period">
        {PERIODS.map((p) => <button key={p.name} aria-pressed={p.hours === hours} onClick={() => setHours(p.hours)}>{p.name}</button>)}
      </p>
      <Missing data={data} problem={problem} />
      {scores.length > 0 && <p>Score now: <b>{figure(Math.min(...scores), '%')}</b> of what is due is delivered.</p>}
      {s && drawn.length === 0 && <p>No figures of this period yet.</p>}
      <div class="pair">
        {drawn.map((c) => c.is && <Chart key={c.title} title={c.title} unit={c.unit} about={c.about} axis={c.is.axis} curves={c.is.curves} low={0} {...(c.high === undefined ? {} : { high: c.high })} />)}
      </div>
    </section>
  );
}
