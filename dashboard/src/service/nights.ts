// When the last night began, for those who ask what happened in it.
import { fromLocal, zoneOffset } from '../charts/format';
import type { Night } from './data';

const DAY_S = 86400;
const EVENING_S = 18 * 3600;
const LEAST_S = 6 * 3600; // the evening of a night that people ask about

/** RFC 3339: the begin of the night that was told last, if it ended within a day; else 18:00 of the evening before, on the clocks of the
 * page's time zone. */
export function lastNight(night: Night | null, now: number): string {
  if (night && now - Date.parse(night.until) / 1000 < DAY_S) return night.from;
  const local = now + zoneOffset(now);
  const evening = Math.floor(local / DAY_S) * DAY_S + EVENING_S;
  const at = fromLocal(evening <= local - LEAST_S ? evening : evening - DAY_S);
  return new Date(at * 1000).toISOString().replace('.000', '');
}
