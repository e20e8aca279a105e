// A host's load as a bar, with the cluster's mean and how far from it hosts are when the imbalance is as aimed at.
import { percent } from './words';

export interface Aim {
  mean: number;
  /** The imbalance aimed at; null: not known */
  target: number | null;
}

const FULL = 1.1; // the right end: a load of more than 100 % is seen as such

function at(v: number): string {
  return `${(100 * Math.min(FULL, Math.max(0, v))) / FULL}%`;
}

export function Bar({ label, load, aim }: { label: string; load: number | null; aim: Aim | null }) {
  return (
    <span class="load">
      <span class="load-name">{label}</span>
      <span class="track" aria-hidden="true">
        {load !== null && <span class={load > 1 ? 'fill over' : 'fill'} style={{ width: at(load) }} />}
        {aim !== null && aim.target !== null && (
          <span class="band" style={{ left: at(aim.mean - aim.target), width: `calc(${at(aim.mean + aim.target)} - ${at(aim.mean - aim.target)})` }} />
        )}
        {aim !== null && <span class="mean" style={{ left: at(aim.mean) }} />}
      </span>
      <span class="load-value">{percent(load)}</span>
    </span>
  );
}
