// Numbers and times as people read them; the same rules as `ballast simulate` on a terminal (src/sim/report/format.c).

const S_PER_MIN = 60;
const S_PER_H = 3600;
const S_PER_DAY = 86400;
const TINY = 1e-4; // smaller values are written with an exponent

function trimZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}

function thousands(digits: string): string {
  const [whole = '', part] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

function twoUnits(v: number, large: number, ofLarge: string, small: number, ofSmall: string): string {
  let n = Math.floor(v / large);
  let rest = Math.round((v - n * large) / small);
  if (rest * small >= large) {
    n += 1;
    rest = 0;
  }
  return rest < 1 ? `${thousands(String(n))} ${ofLarge}` : `${thousands(String(n))} ${ofLarge} ${rest} ${ofSmall}`;
}

/** The two largest units: "2 h 5 min". */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  const sign = seconds < 0 && size >= 0.5 ? '-' : '';
  if (size < S_PER_MIN - 0.5) return `${sign}${size.toFixed(0)} s`;
  if (size < S_PER_H - 0.5) return sign + twoUnits(size, S_PER_MIN, 'min', 1, 's');
  if (size < S_PER_DAY - S_PER_MIN / 2) return sign + twoUnits(size, S_PER_H, 'h', S_PER_MIN, 'min');
  return sign + twoUnits(size, S_PER_DAY, 'd', S_PER_H, 'h');
}

/**
 * Three significant digits, never fewer than the whole number has. Percentages have two decimals, so that "nearly all" is not
 * 100 %.
 */
export function number(v: number | null | undefined, unit = ''): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return '-';
  const size = Math.abs(v);
  if (size === 0 || (size >= 1 && Math.abs(v - Math.round(v)) < 1e-9 * size)) return thousands(String(Math.round(v) + 0));
  if (size < TINY) return v.toExponential(2);
  const least = unit === '%' ? 2 : size < 1000 ? 1 : 0;
  return thousands(trimZeros(v.toFixed(Math.max(2 - Math.floor(Math.log10(size)), least))));
}

/** Number and unit: "12.3 kWh"; "-": not known. */
export function figure(v: number | null | undefined, unit = ''): string {
  const text = number(v, unit);
  return unit === '' || text === '-' ? text : `${text} ${unit}`;
}

/** Short enough for a margin: "0.075", "12.5 k", "1.5 M". */
export function shortNumber(v: number): string {
  const size = Math.abs(v);
  if (size >= 1e6) return `${+(v / 1e6).toPrecision(6)} M`;
  if (size >= 1e4) return `${+(v / 1e3).toPrecision(6)} k`;
  return number(v);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/* ---- times: of one zone, which is UTC until setTimeZone() names another -------------------------------------------------------- */

const OFFSET_S = 900; // a zone's distance from UTC changes at quarters of an hour
const OFFSETS = 5000; // that are kept

let zone = 'UTC';
let parts: Intl.DateTimeFormat | null = null; // null: UTC
const offsets = new Map<number, number>();
const names = new Map<number, string>();

/** The zone of all times that are written from now on, by its IANA name; one that the browser does not know leaves UTC. */
export function setTimeZone(name: string): void {
  offsets.clear();
  names.clear();
  parts = null;
  zone = 'UTC';
  if (name === 'UTC' || name === 'Etc/UTC') return;
  try {
    parts = new Intl.DateTimeFormat('en-US', {
      timeZone: name, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric',
      minute: 'numeric', second: 'numeric',
    });
    zone = name;
  } catch {
    // UTC then
  }
}

/** "Europe/Berlin" */
export function timeZone(): string {
  return zone;
}

/** Seconds that the zone's clocks are ahead of UTC. */
export function zoneOffset(unix: number): number {
  if (!parts) return 0;
  const slot = Math.floor(unix / OFFSET_S);
  let offset = offsets.get(slot);
  if (offset === undefined) {
    const of: Record<string, number> = {};
    for (const { type, value } of parts.formatToParts(slot * OFFSET_S * 1000)) of[type] = Number(value);
    const { year = 0, month = 1, day: dayOfMonth = 1, hour = 0, minute = 0, second = 0 } = of;
    offset = Date.UTC(year, month - 1, dayOfMonth, hour, minute, second) / 1000 - slot * OFFSET_S;
    if (offsets.size >= OFFSETS) offsets.clear();
    offsets.set(slot, offset);
  }
  return offset;
}

/** The UNIX time of a time on the zone's clocks, which is given as if it were of UTC. */
export function fromLocal(local: number): number {
  return local - zoneOffset(local - zoneOffset(local));
}

/** "CET", where the language has a name for it; else "GMT+1". */
export function zoneName(unix: number): string {
  if (!parts) return 'UTC';
  const offset = zoneOffset(unix);
  let name = names.get(offset);
  if (name === undefined) {
    const by = (language: string) => new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: 'short' }).formatToParts(unix * 1000).find((p) => p.type === 'timeZoneName')?.value;
    name = [by('en-US'), by('en-GB'), by('en-AU')].find((n) => n !== undefined && !n.startsWith('GMT')) ?? by('en-US') ?? zone;
    names.set(offset, name);
  }
  return name;
}

/** Its UTC is what the zone's clocks show. */
function date(unix: number): Date {
  return new Date((Math.floor(unix) + zoneOffset(unix)) * 1000);
}

function dayOf(d: Date): string {
  return `${MONTHS[d.getUTCMonth()]} ${d.getUTCDate()}`;
}

/** "Jan 2" */
export function day(unix: number): string {
  return dayOf(date(unix));
}

/** Likewise, in UTC whatever the zone: of what is counted by such days. */
export function utcDay(unix: number): string {
  return dayOf(new Date(unix * 1000));
}

/** "09:05" */
export function clock(unix: number): string {
  return date(unix).toISOString().slice(11, 16);
}

/** "09:05 CET" */
export function clockInZone(unix: number): string {
  return `${clock(unix)} ${zoneName(unix)}`;
}

/** "Jan 2, 09:05" */
export function dayAndClock(unix: number): string {
  return `${day(unix)}, ${clock(unix)}`;
}

/** "2026-01-02 09:05" */
export function timestamp(unix: number): string {
  return date(unix).toISOString().slice(0, 16).replace('T', ' ');
}
