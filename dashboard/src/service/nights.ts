// When the last night began, for those who ask what happened in it.
import type { Night } from './data';

const DAY_S = 86400;
const EVENING_H = 18;

/** RFC 3339: the begin of the night that was told last, if it ended within a day; else 18:00 (UTC) of the evening before. */
export function lastNight(night: Night | null, now: number): string {
  if (night && now - Date.parse(night.until) / 1000 < DAY_S) return night.from;
  const evening = Math.floor(now / DAY_S) * DAY_S + EVENING_H * 3600;
  const at = evening <= now - 6 * 3600 ? evening : evening - DAY_S;
  return new Date(at * 1000).toISOString().replace('.000', '');
}
