// What actions, states and times are called.
import { clockInZone, day, duration, figure, number } from '../charts/format';
import type { Action, AlarmTarget, Amount, Broker, Status, WakeProof } from './data';

const DAY = 86400;
const IN_FLIGHT = new Set(['approved', 'starting', 'running', 'verifying']);

const KINDS: Record<string, string> = {
  migrate: 'Move',
  power_on: 'Power on',
  power_off: 'Put to standby',
  place: 'Place',
  enter_maintenance: 'Enter maintenance',
  exit_maintenance: 'Exit maintenance',
};

const STATES: Record<string, string> = {
  entering_maintenance: 'entering maintenance',
  entering_standby: 'entering standby',
  powering_on: 'powering on',
};

export function stateWords(state: string): string {
  return STATES[state] ?? state;
}

export function actionKind(a: Action): string {
  return KINDS[a.action] ?? a.action;
}

/** "Move web-1 from esx-1 to esx-2" */
export function actionTitle(a: Action): string {
  const what = actionKind(a);
  if (a.vm === null) return `${what}: ${a.host_name ?? a.host ?? ''}`;
  const from = a.from === null ? '' : ` from ${a.from_name ?? a.from}`;
  const to = a.to === null ? '' : a.from === null ? ` on ${a.to_name ?? a.to}` : ` to ${a.to_name ?? a.to}`;
  return `${what} ${a.vm_name ?? a.vm}${from}${to}`;
}

/** A sentence of the service that stands alone. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');
}

/** Who approved or ended an action. */
export function person(by: string): string {
  return by === 'engine' ? 'Ballast itself' : by;
}

/** The recommendation as it was read: a later version is another decision. */
export function versionId(a: Action): string {
  return `${a.id}.${a.version}`;
}

export function isInFlight(a: Action): boolean {
  return IN_FLIGHT.has(a.state);
}

function amount(a: Amount): string {
  const parts = [];
  if (a.cpu_mhz_s) parts.push(`${figure(a.cpu_mhz_s / 1000, 'GHz s')} CPU`);
  if (a.mem_mb_s) parts.push(`${figure(a.mem_mb_s / 1024, 'GiB s')} memory`);
  return parts.join(', ');
}

/** What it takes, what it brings, and what must be done before it; those that are known. */
export function terms(a: Action): [string, string][] {
  const all: [string, string][] = [];
  if (a.duration_s !== null) all.push(['Expected to take', duration(a.duration_s)]);
  const cost = amount(a.cost);
  const gain = amount(a.benefit);
  if (cost) all.push(['Cost', `takes ${cost} from VMs`]);
  if (gain) all.push(['Gain', `gives VMs ${gain}`]);
  if (a.imbalance_after !== null) all.push(['Imbalance after it', a.imbalance_after.toFixed(4)]);
  if (a.depends_on.length > 0) all.push(['Only after', a.depends_on.join(', ')]);
  if (a.group !== null) all.push(['Group', `${a.group}: its actions make sense only together`]);
  return all;
}

/** 0 ... 1: how far the hypervisor says it is, else the part of the time that it is expected to take; null: not known.
 * An action that takes longer stays just below 1. */
export function progress(a: Action, now: number): number | null {
  if (a.percent !== null) return Math.min(0.99, a.percent / 100);
  if (a.started === null || a.duration_s === null || !(a.duration_s > 0)) return null;
  return Math.min(0.99, Math.max(0, (now - Date.parse(a.started) / 1000) / a.duration_s));
}

/** "running for 20 s of about 1 min, 40 % done" */
export function progressWords(a: Action, now: number): string {
  if (a.started === null) return a.state === 'approved' ? 'approved, waits' : a.state;
  const expected = a.duration_s === null ? '' : ` of about ${duration(a.duration_s)}`;
  const done = a.percent === null ? '' : `, ${number(a.percent)} % done`;
  return `${a.state} for ${duration(Math.max(0, now - Date.parse(a.started) / 1000))}${expected}${done}`;
}

function unix(instant: string | null): number {
  return instant === null ? NaN : Date.parse(instant) / 1000;
}

function dayOrClock(t: number, now: number): string {
  return Math.abs(now - t) >= DAY ? `${day(t)}, ${clockInZone(t)}` : clockInZone(t);
}

/** "09:05 CET", on another day with it */
export function atTime(instant: string | null, now: number): string {
  const t = unix(instant);
  return Number.isFinite(t) ? dayOrClock(t, now) : 'an unknown time';
}

/** "5 min ago, 09:05 CET" */
export function ago(instant: string | null, now: number): string {
  const t = unix(instant);
  if (!Number.isFinite(t)) return 'at an unknown time';
  const when = dayOrClock(t, now);
  return now - t >= 1 ? `${duration(now - t)} ago, ${when}` : now - t > -1 ? `now, ${when}` : `in ${duration(t - now)}, ${when}`;
}

/** "since 09:05 CET, for 5 min" */
export function since(instant: string | null, now: number): string {
  const t = unix(instant);
  return Number.isFinite(t) ? `since ${dayOrClock(t, now)}, for ${duration(Math.max(0, now - t))}` : 'since an unknown time';
}

export function percent(v: number | null): string {
  return v === null ? '-' : `${number(Math.round(v * 1000) / 10)} %`;
}

/** The bounds of scores by which VMs are counted (src/engine/look.h), and the one below which a VM got too little. */
export const SCORE_BOUNDS = [99, 95, 80] as const;
export const LITTLE = 95;

export function isLittle(score: number | null): boolean {
  return score !== null && score < LITTLE;
}

/** "62.5 %"; never rounded up to a bound that it is below. */
export function scoreWords(score: number | null): string {
  return score === null ? '-' : `${number(Math.floor(score * 10 + 1e-6) / 10)} %`;
}

/** Whether a method was seen to wake the host. */
export function proofWords(p: WakeProof, now: number): string {
  if (p.state === 'proven') return p.proven === null ? 'is known to wake it' : `has woken it, ${ago(p.proven, now)}`;
  if (p.state === 'expired') return `has woken it with other settings, ${ago(p.proven, now)}`;
  if (p.state === 'failed') return `did not wake it, ${ago(p.failed, now)}${p.why ? `: ${p.why}` : ''}`;
  return 'was never tried';
}

/** "12.3 kWh"; less than one in Wh. */
export function kwh(v: number | null | undefined): string {
  if (v === null || v === undefined) return '-';
  return Math.abs(v) < 1 ? figure(Math.round(1000 * v), 'Wh') : figure(v, 'kWh');
}

const AUTOMATION: Record<string, string> = {
  inherit: 'as the cluster',
  disabled: 'disabled: nothing is recommended',
  manual: 'manual: a person approves',
  partial: 'partial: a person approves moves',
  automatic: 'automatic',
  full: 'full: moves are carried out by themselves',
};

export function automationWords(level: string): string {
  return AUTOMATION[level] ?? level;
}

/** "750 MHz", "2.5 GHz" */
export function mhz(v: number | null): string {
  return v !== null && Math.abs(v) >= 1000 ? figure(v / 1000, 'GHz') : figure(v === null ? null : Math.round(v), 'MHz');
}

/** "512 MiB", "2.5 GiB" */
export function mib(v: number | null): string {
  return v !== null && Math.abs(v) >= 1024 ? figure(v / 1024, 'GiB') : figure(v === null ? null : Math.round(v), 'MiB');
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** "512 KiB", "2.5 GiB" */
export function bytes(v: number): string {
  const kib = v / 1024;
  return kib < 1024 ? figure(Math.ceil(kib), 'KiB') : mib(kib / 1024);
}

/** What is wrong with the service itself, and what to do about it; sentences. */
export interface Trouble {
  text: string;
  advice: string;
}

function because(error: string | null): string {
  return error ? `: ${error.replace(/\.$/, '')}` : '';
}

function waiting(events: number): string {
  return `${count(events, 'event')} ${events === 1 ? 'waits' : 'wait'}`;
}

function alarmTrouble(t: AlarmTarget, now: number): Trouble {
  return {
    text: `Alarms do not reach ${t.target} (${t.address}) since ${atTime(t.failing_since, now)}${because(t.error)}. ${waiting(t.waiting)}.`,
    advice: `Look at the receiver, and at the address and secret of this target in the configuration. Ballast tries again by itself; ballast alarm test ${t.target} tries at once.`,
  };
}

function brokerTrouble(b: Broker, now: number): Trouble {
  return {
    text: `The MQTT broker ${b.url} is not connected since ${atTime(b.since, now)}${because(b.error)}. ${waiting(b.unsent)}.`,
    advice: 'Look at the broker, the network to it, and mqtt in the configuration. Events are kept, and sent when it is back.',
  };
}

/** What keeps the service from its work, or keeps its messages from people; most serious first. */
export function troubles(s: Status): Trouble[] {
  const now = Date.parse(s.time) / 1000;
  const all: Trouble[] = [];
  const add = (text: string, advice: string) => all.push({ text, advice });
  if (s.source.state === 'lost') add(`The hypervisor cannot be read${because(s.source.error)}.`, 'Look at the hypervisor\'s manager, the network to it, and source: in the configuration. Nothing is begun until it is read again.');
  if (s.source.state === 'unknown') add('The hypervisor was not read yet.', 'Wait for the first inventory; if it does not come, look at the log of ballastd.');
  if (s.store_error !== null) add(`Something cannot be stored${because(s.store_error)}.`, 'Look at the disk of the state folder, and at its rights. Nothing is begun that cannot be stored.');
  if (s.store.warning !== null) add(sentence(s.store.warning), 'Make room on the disk, raise history.store_mb, or keep less (history.days, history.passes).');
  if (s.pass_error !== null) add(`The last pass failed${because(s.pass_error)}.`, 'Look at what the sentence names; the next pass tries again.');
  if (s.frozen) add(`Actions are paused${s.frozen_by ? ` by ${s.frozen_by}` : ''}.`, 'Resume them on the overview when the reason is gone.');
  for (const u of s.failing_units) {
    add(`The external unit ${u.unit} has no answer about ${count(u.vms, 'VM')}${because(u.error)}.`, 'Look at the program below units: in the configuration. What becomes of these VMs meanwhile, on_failure of the stage says.');
  }
  for (const t of s.alarms) if (t.failing_since !== null) all.push(alarmTrouble(t, now));
  if (s.mqtt && !s.mqtt.connected) all.push(brokerTrouble(s.mqtt, now));
  if (s.mqtt && s.mqtt.refused_kept > 0) {
    add(`The MQTT broker refuses messages${because(s.mqtt.refusal)}. ${count(s.mqtt.refused_kept, 'event')} ${s.mqtt.refused_kept === 1 ? 'is' : 'are'} sent again for an hour.`, 'Give the user of Ballast the right to publish below its topics at the broker.');
  }
  return all;
}
