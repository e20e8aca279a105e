// VMs by a query, of which only the rows on the screen are in the page.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Vm } from './data';
import { List } from './list';
import { HostLink, VmLink } from './navigation';
import { Wants } from './parts';
import { Missing, useReply, useSession } from './store';
import { vmSource } from './vm_source';
import { score, served, type VmQuery, type VmRows } from './vm_table';
import { count, isLittle, percent, scoreWords } from './words';

const ROW = 52;
const ALL = 0.995; // of the demand; the rest is a rounding
const AROUND = 40; // rows to each side of the screen: they are there before they are seen
const EVERY_MS = 15000; // an inventory seldom comes more often; an event asks at once

function Row({ vm, host }: { vm: Vm; host: boolean }) {
  const part = served(vm);
  const got = score(vm);
  return (
    <div class="vm">
      <span class="vm-name">
        <VmLink id={vm.id} name={vm.name} />
        {vm.state !== 'on' && <span class="state">{vm.state}</span>}
        {host && <small class="soft"> {vm.host === null ? 'on no host' : <>on <HostLink id={vm.host} name={vm.host_name} /></>}</small>}
      </span>
      <Wants of={vm} />
      <span class="want">
        {vm.state === 'on' && <><span class="load-name">Got</span> <span class={isLittle(got) ? 'short' : ''}>{scoreWords(got)}</span></>}
        {part !== null && part < ALL && <small class="soft"> entitled to {percent(part)}</small>}
      </span>
    </div>
  );
}

interface VmsProps {
  query: VmQuery;
  label: string;
  /** Each row names its host */
  host?: boolean;
}

export function Vms({ query, label, host = true }: VmsProps) {
  const { client } = useSession();
  const source = useMemo(() => vmSource(client), [client]);
  const { data: version, problem } = useReply<number>('/vms', EVERY_MS, source.get);
  const [range, setRange] = useState({ first: 0, end: 2 * AROUND });
  const [got, setGot] = useState<VmRows | null>(null);
  const asked = useRef(0);
  const key = JSON.stringify(query);
  useEffect(() => {
    if (version === undefined) return;
    const n = ++asked.current;
    source.rows(query, Math.max(0, range.first - AROUND), range.end + AROUND).then(
      (is) => n === asked.current && setGot(is),
      () => undefined, // the worker has ended; the page says what the reading says
    );
  }, [source, version, key, range.first, range.end]);
  const onRange = useCallback((first: number, end: number) => {
    // A few rows further there is nothing to ask for: they came with those before.
    setRange((r) => (Math.abs(first - r.first) < AROUND / 2 && Math.abs(end - r.end) < AROUND / 2 ? r : { first, end }));
  }, []);
  const matched = got?.matched ?? 0;
  const rows = useMemo(() => Array.from({ length: matched }, (_, i) => i), [matched]);
  return (
    <>
      <Missing data={version} problem={problem} />
      <p class="soft" role="status">{got ? (matched === got.total ? count(matched, 'VM') : `${matched} of ${count(got.total, 'VM')}`) : ''}</p>
      <List
        rows={rows}
        keyOf={String}
        estimate={ROW}
        label={label}
        onRange={onRange}
        draw={(i) => {
          const vm = got?.rows[i - got.first];
          return vm ? <Row vm={vm} host={host} /> : <div class="vm soft">...</div>;
        }}
      />
    </>
  );
}
