// Power and energy: what sleeps, what is drawn and saved, the night's schedule, what demand is expected, and how hosts can be woken.
import { useMemo } from 'preact/hooks';
import { Chart } from '../charts/chart';
import { DataTable } from '../charts/figure';
import { duration, figure, utcDay } from '../charts/format';
import { advice } from './advice';
import { address } from './address';
import type { Host, Status } from './data';
import { useHostChanges } from './host_changes';
import { List } from './list';
import { naturally } from './loads';
import { HostLink, Title } from './navigation';
import { lastNight } from './nights';
import { Ago, Since, Tile } from './parts';
import { energyCurves, forecastCurves, type EnergyRow, type Forecast } from './power_curves';
import { Missing, useNow, useReply } from './store';
import { count, kwh, percent, proofWords, sentence } from './words';

const POWER_FAULTS = new Set(['power_method', 'ready_by', 'other_power_management', 'vsan', 'serves_storage']);
const DAYS = 14;

interface Schedule {
  time_zone: string;
  enabled: boolean;
  windows: string[];
  power_off: boolean;
  power_off_changes: string | null;
  power_off_changes_local: string | null;
  ready_by: string | null;
  ready_percent: number | null;
  next: { time: string; local: string | null; what: 'begins' | 'ends' | 'ready_by' }[];
  wakes: { host: string; name: string; at_the_latest: string; at_the_latest_local: string | null; boot_s: number | null; boot_measured: boolean }[];
}

const NEXT: Record<string, string> = {
  begins: 'hosts may be put to standby',
  ends: 'no host is put to standby any more',
  ready_by: 'capacity must be back',
};

interface Energy {
  rows: EnergyRow[];
  total: EnergyRow;
  hosts_without_figures: string[];
  asleep_as_nothing: number;
}

function Now({ s, energy }: { s: Status; energy: Energy | undefined }) {
  const p = s.power;
  const today = energy?.rows[energy.rows.length - 1];
  return (
    <ul class="tiles">
      <Tile
        what="Drawn now"
        value={p === null || p.watts === null || p.hosts_unknown >= p.hosts ? 'not known' : figure(Math.round(p.watts), 'W')}
        note={p === null ? 'no inventory yet' : p.hosts_unknown >= p.hosts ? 'no host has a power model or a meter' : `${figure(p.all_on_w === null ? null : Math.round(p.all_on_w), 'W')} with all hosts on; ${p.hosts_measured} of ${count(p.hosts, 'host')} metered${p.hosts_unknown ? `, ${p.hosts_unknown} unknown` : ''}`}
      />
      <Tile what="Asleep" value={String(s.asleep.length)} note={`of ${count(s.hosts, 'host')}`} />
      <Tile what="Saved today" value={kwh(today ? Math.max(0, today.saved_kwh ?? 0) : null)} note={`${kwh(today?.used_kwh)} used`} />
      <Tile
        what={`Saved in ${DAYS} days`}
        value={kwh(energy ? Math.max(0, energy.total.saved_kwh ?? 0) : null)}
        note={energy ? `${percent(Math.max(0, energy.total.saved_percent ?? 0) / 100)} of what all hosts on would have used` : ''}
      />
    </ul>
  );
}

function Asleep({ s, hosts }: { s: Status; hosts: readonly Host[] }) {
  const changes = useHostChanges();
  const byId = useMemo(() => new Map(hosts.map((h) => [h.id, h])), [hosts]);
  return (
    <section>
      <h2>Asleep</h2>
      {s.asleep.length === 0 && <p>No host is in standby.</p>}
      {s.pass?.stays_on.text && <p>{s.pass.stays_on.text}</p>}
      <List
        rows={s.asleep}
        keyOf={(x) => x.host}
        estimate={80}
        label="Hosts in standby"
        draw={(x) => {
          const h = byId.get(x.host);
          return (
            <article class="card" aria-label={x.host_name}>
              <h3><HostLink id={x.host} name={x.host_name} /></h3>
              <p class="soft">
                <Since t={x.since} />{x.by_ballast ? ', by Ballast' : ', not by Ballast'}
                {x.boot_s === null ? '' : `; ${duration(x.boot_s)} from wake to usable`}
              </p>
              {x.waking && <p>It is being woken{x.waking.method ? ` by ${x.waking.method}` : ''}. {x.waking.why ?? ''}</p>}
              {x.wake_failed && <p class="problem">Its last wake failed <Ago t={x.wake_failed} />.</p>}
              {h && changes.buttons(h)}
            </article>
          );
        }}
      />
      {changes.dialog}
    </section>
  );
}

function NightPart({ s }: { s: Status }) {
  const n = s.night;
  const wrong = n?.hosts.filter((h) => h.late || h.failed || h.stayed_on) ?? [];
  return (
    <section>
      <h2>Last night</h2>
      <p>{n ? sentence(n.text) : 'No night in which Ballast had hosts sleep has ended yet.'}</p>
      <ul class="plain">
        {wrong.map((h) => (
          <li key={h.host}>
            <b><HostLink id={h.host} name={h.host_name} /></b> {h.failed ? 'did not wake' : h.stayed_on ? 'stayed on' : 'woke late'}
            {h.woke_s !== undefined && `: ${duration(h.woke_s)}${h.expected_s === undefined ? '' : `, not ${duration(h.expected_s)}`}`}
            {h.why && <span class="soft">; {h.why}</span>}
          </li>
        ))}
      </ul>
      <p><a href={address('history', '', { since: lastNight(n, Date.parse(s.time) / 1000) })}>All that happened last night</a></p>
    </section>
  );
}

function SchedulePart() {
  const { data, problem } = useReply<{ schedule: Schedule }>('/schedule?limit=6', 15000);
  const s = data?.schedule;
  return (
    <section>
      <h2>Schedule</h2>
      <Missing data={data} problem={problem} />
      {s && !s.enabled && <p>Power management is off (dpm.enabled): hosts sleep only when a person puts them to standby.</p>}
      {s && s.enabled && (
        <>
          <p>
            Hosts {s.power_off ? 'may' : 'may not'} be put to standby now
            {s.power_off_changes ? <>; that changes <Ago t={s.power_off_changes} />.</> : '; that does not change.'}
            {s.ready_by && <> {figure(s.ready_percent, '%')} of the capacity must be back <Ago t={s.ready_by} />.</>}
          </p>
          <ul class="plain">
            {s.next.map((n) => <li key={n.time + n.what}><b>{n.local ?? n.time}</b> {NEXT[n.what]}</li>)}
            {s.wakes.map((w) => (
              <li key={w.host}>
                <b>{w.at_the_latest_local ?? w.at_the_latest}</b> at the latest <HostLink id={w.host} name={w.name} /> is woken
                <span class="soft"> ({w.boot_s === null ? 'not known how long it takes' : `${duration(w.boot_s)} to be usable${w.boot_measured ? ', measured' : ''}`})</span>
              </li>
            ))}
          </ul>
          <p class="soft">Times of {s.time_zone}.</p>
        </>
      )}
    </section>
  );
}

function ForecastPart({ hosts }: { hosts: readonly Host[] }) {
  const { data, problem } = useReply<{ forecast: Forecast }>('/forecast?hours=24', 60000);
  const f = data?.forecast;
  const on = hosts.filter((h) => h.state === 'on');
  const sum = (key: 'cpu' | 'mem') => (on.some((h) => h[key].capacity !== null) ? on.reduce((n, h) => n + (h[key].capacity ?? 0), 0) : null);
  const [cpuOn, memOn] = [sum('cpu'), sum('mem')];
  const drawn = useMemo(() => (f ? [forecastCurves(f, 'cpu_mhz', 1000, cpuOn), forecastCurves(f, 'mem_mb', 1024, memOn)] : []), [f, cpuOn, memOn]);
  const [cpu, mem] = drawn;
  return (
    <section>
      <h2>Expected demand</h2>
      <Missing data={data} problem={problem} />
      {f && f.doubted_since && <p class="problem">The prediction failed today and is not used <Since t={f.doubted_since} />.</p>}
      {f && !cpu && !mem && <p>No demand was recorded yet; a prediction needs a few days.</p>}
      <div class="pair">
        {cpu && <Chart title="CPU" unit="GHz" about="Expected and actual demand of the last day, and expected demand of the next." curves={cpu.curves} axis={cpu.axis} low={0} />}
        {mem && <Chart title="Memory" unit="GiB" about="Likewise." curves={mem.curves} axis={mem.axis} low={0} />}
      </div>
    </section>
  );
}

function EnergyPart({ energy }: { energy: Energy }) {
  const drawn = useMemo(() => energyCurves(energy.rows), [energy]);
  const table = useMemo(
    () => ({
      caption: 'Energy by day, kWh',
      columns: ['Day (UTC)', 'used', 'all hosts on', 'saved', 'saved, %', 'demand not met, %'],
      rows: [...energy.rows].reverse().map((r) => ({
        head: r.time === null ? '-' : utcDay(Date.parse(r.time) / 1000),
        cells: [r.used_kwh, r.all_on_kwh, r.saved_kwh, r.saved_percent, r.unmet_percent].map((v) => figure(v)),
      })),
    }),
    [energy],
  );
  return (
    <section>
      <h2>Energy</h2>
      {!drawn && <p>Nothing was accounted yet.</p>}
      {drawn && <Chart title="Energy by day" unit="kWh" about="Each bar is a day: what was used, in front of what all hosts on would have used." curves={drawn.curves} axis={drawn.axis} low={0} />}
      {drawn && <DataTable table={table} />}
      {energy.hosts_without_figures.length > 0 && <p class="soft">Not counted, for want of a power model or a meter: {energy.hosts_without_figures.join(', ')}.</p>}
      {energy.asleep_as_nothing > 0 && <p class="soft">{count(energy.asleep_as_nothing, 'host')} in standby counted as 0 W: the standby power is not known.</p>}
    </section>
  );
}

const DOUBTS: Record<string, number> = { failed: 0, expired: 1, never: 2, proven: 3 };

function doubt(h: Host): number {
  return Math.min(...h.wake_proofs.map((p) => DOUBTS[p.state] ?? 3), 4);
}

function Proofs({ hosts }: { hosts: readonly Host[] }) {
  const now = useNow();
  const rows = useMemo(() => naturally(hosts).filter((h) => h.wake_proofs.length > 0).sort((a, b) => doubt(a) - doubt(b)), [hosts]);
  const proven = rows.filter((h) => h.wake_verified).length;
  return (
    <section>
      <h2>Wake proofs</h2>
      <p>{rows.length === 0 ? 'No host can be woken: neither the hypervisor nor the configuration has a method.' : `${proven} of ${count(rows.length, 'host')} that can be woken ${proven === 1 ? 'was' : 'were'} seen to wake. Those in doubt come first.`}</p>
      <List
        rows={rows}
        keyOf={(h) => h.id}
        estimate={40}
        label="Hosts and how they wake, those in doubt first"
        draw={(h) => (
          <div class="fault">
            <HostLink id={h.id} name={h.name} /> {h.wake_proofs.map((p) => <span key={p.method} class={p.state === 'failed' ? 'short' : 'soft'}>{p.method} {proofWords(p, now)}. </span>)}
          </div>
        )}
      />
    </section>
  );
}

export function PowerPage() {
  const { data, problem } = useReply<{ status: Status }>('/status', 2000);
  const hosts = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const since = new Date(Date.now() - DAYS * 86400e3).toISOString().slice(0, 10);
  const energy = useReply<{ energy: Energy }>(`/energy?by=day&since=${since}T00:00:00Z`, 60000);
  const s = data?.status;
  const faults = s?.faults.filter((f) => POWER_FAULTS.has(f.code)) ?? [];
  const list = hosts.data?.hosts ?? [];
  const below = useMemo(
    () => (
      <>
        <SchedulePart />
        <ForecastPart hosts={list} />
        {energy.data && <EnergyPart energy={energy.data.energy} />}
        <Proofs hosts={list} />
      </>
    ),
    [hosts.data, energy.data],
  );
  return (
    <>
      <Title text="Power and energy" />
      <Missing data={data && hosts.data && energy.data} problem={problem ?? hosts.problem ?? energy.problem} />
      {s && (
        <>
          <Now s={s} energy={energy.data?.energy} />
          {faults.map((f) => <p class="problem" key={f.text}>{f.text} <span class="soft">{advice(f.code)}</span></p>)}
          <div class="pair">
            <NightPart s={s} />
            <Asleep s={s} hosts={list} />
          </div>
          {below}
        </>
      )}
    </>
  );
}
