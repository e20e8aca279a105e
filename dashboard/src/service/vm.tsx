// A VM: what it asks for and gets, where it runs and why it stays there, and what was done with it.
import { useEffect, useState } from 'preact/hooks';
import type { Address } from './address';
import type { Pool, Vm } from './data';
import { Course } from './course';
import { ItemActions, ItemFaults } from './item_parts';
import { HostLink, PoolLink, Title } from './navigation';
import { Ago, DemandTiles, Facts, Tile } from './parts';
import { Missing, useReply } from './store';
import { score } from './vm_table';
import { Why } from './why';
import { automationWords, isLittle, mib, scoreWords } from './words';

export function VmPage({ a }: { a: Address }) {
  const { data: vm, problem } = useReply<Vm>(`/vms/${encodeURIComponent(a.item)}`);
  const pools = useReply<{ pools: Pool[] }>('/pools?limit=10000', 60000);
  const [asked, setAsked] = useState(false);
  const why = asked || a.query.get('why') === '1'; // also by a link of this very page
  const name = vm?.name ?? a.item;
  useEffect(() => {
    if (why && vm) document.getElementById('why')?.scrollIntoView({ block: 'start' });
  }, [why && vm !== undefined]);
  const got = vm ? score(vm) : null;
  const pool = pools.data?.pools.find((p) => p.id === vm?.pool);
  const back = <a href="#/vms">VMs</a>;
  if (!vm) {
    return (
      <>
        <Title text={name} above={back} />
        <Missing data={vm} problem={problem} />
        {problem?.status === 404 && <ItemActions kind="vm" id={a.item} name={a.item} />}
      </>
    );
  }
  return (
    <>
      <Title text={name} above={back} />
      <Missing data={vm} problem={problem} />
      <ItemFaults kind="vm" id={vm.id} />
      <Facts
        of={[
          ['State', vm.state],
          ['Runs on', vm.host === null ? 'no host' : <HostLink id={vm.host} name={vm.host_name} />],
          ['Pool', vm.pool === null ? 'none' : <PoolLink id={vm.pool} name={pool?.name ?? vm.pool} />],
          ['vCPUs', String(vm.vcpus)],
          ['Configured memory', mib(vm.mem_mb)],
          ['Taken by its balloon', vm.ballooned_mb ? mib(vm.ballooned_mb) : ''],
          ['Swapped out', vm.swapped_mb ? mib(vm.swapped_mb) : ''],
          ['Automation', automationWords(vm.automation)],
          ['Last moved', vm.last_migrated === null ? 'not known' : <Ago t={vm.last_migrated} />],
        ]}
      />
      {vm.demand_unknown && <p class="problem">Nothing measured its demand lately: it is not moved for balance.</p>}
      <DemandTiles of={vm} more={vm.state === 'on' && <Tile what="Got" value={scoreWords(got)} note={got === null ? 'not known' : 'of what was due to it in the last minute'} bad={isLittle(got)} />} />
      {vm.state === 'on' && (
        <section>
          <h2 id="why">Why it stays, or moves</h2>
          {why ? <Why vm={vm.id} /> : <p class="buttons"><button onClick={() => setAsked(true)}>Why not elsewhere?</button></p>}
        </section>
      )}
      <Course route={`/vms/${encodeURIComponent(vm.id)}`} />
      <ItemActions kind="vm" id={vm.id} name={vm.name} />
    </>
  );
}
