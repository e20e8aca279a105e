// The first page: is all well, what waits for a person, what happened last night, and how evenly the hosts are loaded.
import { useMemo } from 'preact/hooks';
import { ActionTitle, WhyLink } from './actions';
import { address } from './address';
import { Bar, type Aim } from './bars';
import { Controls, PausedSince } from './controls';
import type { Action, FirstRequest, Host, Recommendations, Status } from './data';
import { Imbalance, Scores, useDayAgo, useSuffering } from './imbalance';
import { SecondPerson } from './item_parts';
import { List } from './list';
import { awake, fullestFirst, mean } from './loads';
import { HostLink, Title } from './navigation';
import { lastNight } from './nights';
import { Ago, Since, Tile } from './parts';
import { Missing, useNow, useReply } from './store';
import { count, isInFlight, LITTLE, progressWords, sentence, troubles } from './words';

const HOST_ROW = 44;
const SHOWN = 5;
const FIRST = 100; // recommendations that are read here: a large cluster may have thousands
const ASLEEP_SHOWN = 10;

function four(v: number | null | undefined): string {
  return v === null || v === undefined ? '-' : v.toFixed(4);
}

function flyingOf(s: Status): number {
  return (s.actions.approved ?? 0) + (s.actions.starting ?? 0) + (s.actions.running ?? 0) + (s.actions.verifying ?? 0);
}

function Tiles({ s, since }: { s: Status; since: string }) {
  const suffer = useSuffering(since);
  const waits = s.actions.recommended ?? 0;
  const flying = flyingOf(s);
  const p = s.pass;
  const uneven = p !== null && p.imbalance !== null && p.target !== null && p.imbalance > p.target;
  return (
    <ul class="tiles">
      <Tile what="Imbalance" value={four(p?.imbalance)} note={p === null ? 'no pass yet' : `target ${four(p.target)}${uneven ? ', above it' : ''}; CPU ${four(p.imbalance_cpu)}, memory ${four(p.imbalance_mem)}`} />
      <Tile what="Waiting for a decision" value={String(waits)} note={waits === 0 ? 'nothing' : <a href="#/recommendations">decide on them</a>} />
      <Tile what="In progress" value={String(flying)} note={s.frozen ? 'paused' : flying === 0 ? 'nothing' : 'approved or running'} bad={s.frozen} />
      <Tile what="VMs that suffer" value={suffer.value} note={suffer.bad ? <a href={address('vms', '', { got: String(LITTLE), order: 'score' })}>{suffer.note}</a> : suffer.note} bad={suffer.bad} />
      <Tile what="Asleep" value={String(s.asleep.length)} note={<>of <a href="#/hosts">{count(s.hosts, 'host')}</a></>} />
      <Tile what="Faults" value={String(s.faults.length)} note={s.faults.length === 0 ? 'none' : <a href="#/faults">what to do</a>} bad={s.faults.length > 0} />
      <Tile what="Last pass" value={p === null ? '-' : `# ${p.id}`} note={p === null ? '' : <Ago t={p.time} />} />
    </ul>
  );
}

function HostRow({ h, cpu, mem }: { h: Host; cpu: Aim | null; mem: Aim | null }) {
  return (
    <div class="host">
      <span class="host-name"><HostLink id={h.id} name={h.name} /></span>
      <Bar label="CPU" load={h.cpu.load} aim={cpu} />
      <Bar label="Memory" load={h.mem.load} aim={mem} />
    </div>
  );
}

function Hosts({ target }: { target: number | null }) {
  const { data, problem } = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const rows = useMemo(() => fullestFirst(awake(data?.hosts ?? [])), [data]);
  const [cpu, mem] = useMemo(() => {
    const c = mean(rows.map((h) => h.cpu.load));
    const m = mean(rows.map((h) => h.mem.load));
    return [c === null ? null : { mean: c, target }, m === null ? null : { mean: m, target }];
  }, [rows, target]);
  return (
    <section>
      <h2>Hosts</h2>
      <p class="soft">
        Load: entitlement of the VMs by capacity. The line is the mean of all hosts; the band reaches one target imbalance (a standard
        deviation) to each side of it. The fullest hosts come first.
      </p>
      <Missing data={data} problem={problem} />
      {data && rows.length === 0 && <p>No host is on.</p>}
      <List rows={rows} keyOf={(h) => h.id} draw={(h) => <HostRow h={h} cpu={cpu ?? null} mem={mem ?? null} />} estimate={HOST_ROW} label="Hosts, the fullest first" />
    </section>
  );
}

function Going({ list }: { list: readonly Action[] }) {
  const now = useNow();
  return (
    <ul class="plain">
      {list.map((a) => (
        <li key={a.id}>
          <b><ActionTitle a={a} /></b> <span class="soft">{progressWords(a, now)}</span>
        </li>
      ))}
    </ul>
  );
}

function Waiting({ waiting, going, first }: { waiting: number; going: number; first: readonly FirstRequest[] }) {
  const { data, problem } = useReply<Recommendations>(`/recommendations?limit=${FIRST}`);
  const all = data?.recommendations ?? [];
  const waits = all.filter((a) => a.state === 'recommended');
  const flying = all.filter(isInFlight);
  return (
    <section>
      <h2>Waiting for a person</h2>
      <Missing data={data} problem={problem} />
      <SecondPerson of={first} />
      {waiting === 0 && <p>No recommendation waits for a decision.</p>}
      <ul class="plain">
        {waits.slice(0, SHOWN).map((a) => (
          <li key={a.id}>
            <b><ActionTitle a={a} /></b> <span class="soft">{a.text ?? a.reason}</span>{a.why && <> {sentence(a.why)}</>} <WhyLink a={a} />
          </li>
        ))}
      </ul>
      {waiting > 0 && <p><a href="#/recommendations">{waiting > SHOWN ? `All ${waiting} recommendations` : 'Decide on them'}</a></p>}
      {flying.length > 0 && (
        <>
          <h3>In progress</h3>
          <Going list={flying.slice(0, SHOWN)} />
          {going > SHOWN && <p><a href="#/recommendations">All {going} actions</a></p>}
        </>
      )}
    </section>
  );
}

function Night({ s }: { s: Status }) {
  const since = lastNight(s.night, Date.parse(s.time) / 1000);
  return (
    <section>
      <h2>Last night</h2>
      <p>{s.night ? sentence(s.night.text) : 'No night in which Ballast had hosts sleep has ended yet.'}</p>
      <p><a href={address('history', '', { since })}>What happened last night</a></p>
    </section>
  );
}

function FaultsAndSleep({ s }: { s: Status }) {
  return (
    <section>
      <h2>Faults</h2>
      {s.faults.length === 0 && <p>The last pass found none.</p>}
      <ul class="plain">{s.faults.slice(0, SHOWN).map((f, i) => <li key={i}>{f.text}</li>)}</ul>
      {s.faults.length > 0 && <p><a href="#/faults">{s.faults.length > SHOWN ? `All ${s.faults.length} faults, and what to do` : 'What to do'}</a></p>}
      <h2>Asleep</h2>
      {s.asleep.length === 0 && <p>No host is in standby.</p>}
      <ul class="plain">
        {s.asleep.slice(0, ASLEEP_SHOWN).map((h) => (
          <li key={h.host}>
            <b><HostLink id={h.host} name={h.host_name} /></b> <span class="soft"><Since t={h.since} />{h.by_ballast ? '' : ', not by Ballast'}{h.wake_failed ? '; its last wake failed' : ''}</span>
          </li>
        ))}
      </ul>
      {s.asleep.length > ASLEEP_SHOWN && <p><a href="#/power">All {s.asleep.length} hosts in standby</a></p>}
    </section>
  );
}

export function Overview() {
  const { data, problem } = useReply<{ status: Status }>('/status', 2000);
  const s = data?.status;
  const target = s?.pass?.target ?? null;
  // The status changes with each second: the long parts are drawn again only for what they show.
  const hosts = useMemo(() => <Hosts target={target} />, [target]);
  const waits = s?.actions.recommended ?? 0;
  const going = s ? flyingOf(s) : 0;
  const first = s?.first_requests ?? [];
  const waiting = useMemo(() => <Waiting waiting={waits} going={going} first={first} />, [waits, going, JSON.stringify(first)]);
  const intervalS = s?.interval_s ?? 0;
  const since = useDayAgo();
  const course = useMemo(() => <Imbalance since={since} target={target} intervalS={intervalS} />, [since, target, intervalS]);
  const scores = useMemo(() => <Scores since={since} />, [since]);
  return (
    <>
      <Title text="Overview" />
      <Missing data={data} problem={problem} />
      {s && (
        <>
          <p class="soft">
            Cluster {s.cluster}: {count(s.hosts, 'host')}, {count(s.vms, 'VM')}. Automation: {s.automation}. Ballast {s.version}.
          </p>
          {troubles(s).map((t) => <p class="problem" role="alert" key={t.text}>{t.text} <a href="#/faults">What to do</a></p>)}
          <PausedSince s={s} />
          <Controls s={s} />
          <Tiles s={s} since={since} />
          <div class="pair">
            {waiting}
            <div>
              <FaultsAndSleep s={s} />
              <Night s={s} />
            </div>
          </div>
          <div class="pair">
            <section>
              <h2>Imbalance</h2>
              {s.pass?.end.text && <p>The last pass recommends no more moves for balance: {s.pass.end.text.replace(/\.$/, '')}.</p>}
              {course}
            </section>
            <section>
              <h2>What VMs got</h2>
              {scores}
            </section>
          </div>
          {hosts}
        </>
      )}
    </>
  );
}
