// Maintenance of several hosts, one after another (a roll).
import { useMemo, useState } from 'preact/hooks';
import type { Host, Roll, Status } from './data';
import { Ask, type Question } from './dialog';
import { SecondPerson } from './item_parts';
import { List } from './list';
import { named, naturally } from './loads';
import { HostLink, Title } from './navigation';
import { Ago, Facts, Since } from './parts';
import { mayChange, Missing, useChange, useReply, useSession } from './store';
import { count, stateWords } from './words';

function State({ r }: { r: Roll }) {
  const done = r.hosts.filter((h) => h.step === 'done').length;
  return (
    <section>
      <h2>{r.ended === null ? 'In progress' : 'The last one'}</h2>
      <Facts
        of={[
          ['Begun', <Ago t={r.started} />],
          ['By', r.by ?? ''],
          ['At the same time', count(r.at_once, 'host')],
          ['Ended', r.ended === null ? '' : <Ago t={r.ended} />],
        ]}
      />
      <p>{done} of {count(r.hosts.length, 'host')} back in service.</p>
      <progress max={Math.max(1, r.hosts.length)} value={done} aria-label="Hosts back in service" />
      {r.waits && <p>Waiting: {r.waits}</p>}
      {r.failed && <p class="problem">Stopped: {r.failed}</p>}
      <List
        rows={r.hosts}
        keyOf={(h) => h.id}
        estimate={40}
        label="Hosts in their order"
        draw={(h) => (
          <div class="fault">
            <HostLink id={h.id} name={h.name} /> <span class={`state ${h.step}`}>{h.step.replaceAll('_', ' ')}</span>{' '}
            <span class="soft">{h.meaning}{h.since !== null && <>, <Since t={h.since} /></>}</span>
          </div>
        )}
      />
    </section>
  );
}

function Begin({ hosts, onAsk }: { hosts: readonly Host[]; onAsk: (q: Question) => void }) {
  const { busy, change } = useChange();
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [atOnce, setAtOnce] = useState(1);
  const rows = useMemo(() => named(naturally(hosts), words), [hosts, words]);
  const picked = useMemo(() => hosts.filter((h) => chosen.has(h.id)), [hosts, chosen]);
  const choose = (list: readonly Host[], on: boolean) => {
    const next = new Set(chosen);
    for (const h of list) {
      if (on) next.add(h.id);
      else next.delete(h.id);
    }
    setChosen(next);
  };
  const begin = () =>
    onAsk({
      title: `Maintenance of ${count(picked.length, 'host')}?`,
      text: `${count(Math.min(atOnce, picked.length), 'host')} at a time: its VMs are moved away, it is handed over to you; once you end its maintenance the next one begins.`,
      yes: 'Begin',
      onYes: () => void change('/maintenance/roll', { hosts: picked.map((h) => h.id), at_once: atOnce }, `Maintenance of ${count(picked.length, 'host')} has begun.`),
    });
  return (
    <section>
      <h2>Begin</h2>
      <div class="fields">
        <span class="field">
          <label for="find">Name or state</label>
          <input id="find" type="search" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        </span>
        <span class="field">
          <label for="at-once">Hosts at the same time</label>
          <input id="at-once" type="number" min={1} max={99} value={atOnce} onInput={(e) => setAtOnce(Math.max(1, e.currentTarget.valueAsNumber || 1))} />
        </span>
      </div>
      <p class="buttons">
        <button onClick={() => choose(rows, true)}>Choose all {rows.length}</button>
        <button disabled={picked.length === 0} onClick={() => setChosen(new Set())}>Choose none</button>
        <button class="main" disabled={busy || picked.length === 0} onClick={begin}>Begin with {count(picked.length, 'host')}</button>
      </p>
      <List
        rows={rows}
        keyOf={(h) => h.id}
        estimate={38}
        label="Hosts to choose from"
        draw={(h) => (
          <label class="choose">
            <input type="checkbox" checked={chosen.has(h.id)} onChange={(e) => choose([h], e.currentTarget.checked)} /> {h.name}{' '}
            <span class={`state ${h.state}`}>{stateWords(h.state)}</span>
          </label>
        )}
      />
    </section>
  );
}

export function MaintenancePage() {
  const may = mayChange(useSession());
  const { data, problem } = useReply<{ roll: Roll | null }>('/maintenance/roll', 2000);
  const hosts = useReply<{ hosts: Host[] }>('/hosts?limit=10000');
  const status = useReply<{ status: Status }>('/status');
  const { busy, change } = useChange();
  const [question, setQuestion] = useState<Question | null>(null);
  const roll = data?.roll ?? null;
  const goes = roll !== null && roll.ended === null;
  const stop = () =>
    setQuestion({
      title: 'Stop after the hosts that are in maintenance now?',
      text: 'No other host begins. Hosts that are being emptied or are in maintenance stay so until you end their maintenance.',
      yes: 'Stop',
      onYes: () => void change('/maintenance/roll', { stop: '' }, 'Stopped: no other host begins.'),
    });
  return (
    <>
      <Title text="Maintenance of several hosts" above={<a href="#/hosts">Hosts</a>} />
      <Missing data={data} problem={problem} />
      <SecondPerson of={(status.data?.status.first_requests ?? []).filter((f) => f.action === 'roll')} />
      {data && roll === null && <p>None was begun yet. Hosts are emptied one after another; each is handed over to you, and the next one begins once you end its maintenance.</p>}
      {roll && <State r={roll} />}
      {may && goes && <p class="buttons"><button disabled={busy} onClick={stop}>Stop</button></p>}
      {may && data && !goes && <Begin hosts={hosts.data?.hosts ?? []} onAsk={setQuestion} />}
      <Ask question={question} onEnd={() => setQuestion(null)} />
    </>
  );
}
