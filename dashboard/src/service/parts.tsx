// Small parts that several pages share.
import type { ComponentChildren } from 'preact';
import type { Demand } from './data';
import { served } from './vm_table';
import { useNow } from './store';
import { ago, mhz, mib, percent, since } from './words';

/** A figure with a heading and a note. */
export function Tile({ what, value, note, bad }: { what: string; value: ComponentChildren; note: ComponentChildren; bad?: boolean }) {
  return (
    <li class={bad ? 'bad' : ''}>
      {what}
      <b>{value}</b>
      <small>{note}</small>
    </li>
  );
}

/** "5 min ago, 09:05 CET", kept current. */
export function Ago({ t }: { t: string | null }) {
  return <>{ago(t, useNow())}</>;
}

/** "since 09:05 CET, for 5 min", kept current. */
export function Since({ t }: { t: string | null }) {
  return <>{since(t, useNow())}</>;
}

/** Names and values, those that are known. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== '-');
  return known.length === 0 ? null : (
    <dl class="terms">
      {known.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export const RESOURCES = [
  { key: 'cpu', name: 'CPU', text: mhz },
  { key: 'mem', name: 'Memory', text: mib },
] as const;

/** What is asked for and what is due, of both resources, for a row of a list. */
export function Wants({ of }: { of: { cpu: Demand; mem: Demand } }) {
  return (
    <>
      {RESOURCES.map((r) => (
        <span class="want" key={r.key}>
          <span class="load-name">{r.name}</span> {r.text(of[r.key].demand)}
          {short(of[r.key]) && <b class="short"> entitled to {r.text(of[r.key].entitlement)}</b>}
        </span>
      ))}
    </>
  );
}

/** It is due less than it asks for, by more than a rounding. */
function short(d: Demand): boolean {
  return d.demand !== null && d.entitlement !== null && d.entitlement < 0.995 * d.demand;
}

/** Demand and entitlement as tiles. */
export function DemandTiles({ of, more }: { of: { cpu: Demand; mem: Demand }; more?: ComponentChildren }) {
  return (
    <ul class="tiles">
      {RESOURCES.map((r) => {
        const d = of[r.key];
        const part = served({ cpu: d, mem: { demand: null, entitlement: null } });
        return (
          <Tile
            key={r.key}
            what={r.name}
            value={`${r.text(d.entitlement)} of ${r.text(d.demand)}`}
            note={part === null ? 'entitled to, of its demand' : part >= 0.995 ? 'entitled to all of its demand' : `entitled to ${percent(part)} of its demand`}
            bad={short(d)}
          />
        );
      })}
      {more}
    </ul>
  );
}
