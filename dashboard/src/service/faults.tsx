// Faults: what the last pass found and cannot mend, what keeps the service from its work or its messages from people, and what to do about
// each; how full the store is.
import { advice, byCode } from './advice';
import { address } from './address';
import type { Fault, Status } from './data';
import { List } from './list';
import { HostLink, Title, VmLink } from './navigation';
import { Ago, Facts, Since } from './parts';
import { Missing, useReply } from './store';
import { bytes, count, percent, troubles } from './words';

function FaultRow({ f }: { f: Fault }) {
  return (
    <div class="fault">
      <bdi>{f.text}</bdi>{' '}
      {f.vm !== null && <VmLink id={f.vm}>the VM</VmLink>} {f.host !== null && <HostLink id={f.host}>the host</HostLink>}
      {f.vm !== null && (f.code === 'cannot_evacuate' || f.code === 'rule_violated') && <> <a href={address('vms', f.vm, { why: '1' })}>why it cannot move</a></>}
    </div>
  );
}

/** How the parts are that keep and tell what the service does. */
function Service({ s }: { s: Status }) {
  const { used_bytes: used, limit_bytes: limit, disk_free_bytes: free } = s.store;
  return (
    <section>
      <h2>The service's store and messages</h2>
      <div class="told">
        <Facts
          of={[
            ['Store', `${bytes(used)} of at most ${bytes(limit)}${limit > 0 ? ` (${percent(used / limit)})` : ''}; ${bytes(free)} free on its disk`],
            ['MQTT broker', s.mqtt ? <>{s.mqtt.url}, {s.mqtt.connected ? 'connected' : 'not connected'} <Since t={s.mqtt.since} />{s.mqtt.refused > 0 && `; ${count(s.mqtt.refused, 'message')} refused`}</> : 'none is configured'],
            ['Alarms', s.alarms.length === 0 ? 'no target is configured' : count(s.alarms.length, 'target')],
            ...s.alarms.map((t) => [
              t.target,
              <>
                {t.failing_since === null ? 'reached' : 'not reached'}{t.delivered_at === null ? ', no message yet' : <>, the last message <Ago t={t.delivered_at} /></>}
                {t.given_up > 0 && `; ${count(t.given_up, 'message')} given up since the start`}
              </>,
            ] as const),
          ]}
        />
      </div>
    </section>
  );
}

export function FaultsPage() {
  const { data, problem } = useReply<{ status: Status }>('/status', 2000);
  const s = data?.status;
  const groups = byCode(s?.faults ?? []);
  const own = s ? troubles(s) : [];
  const none = s && groups.length === 0 && own.length === 0 && s.configuration.length === 0 && s.logins_paused.length === 0;
  return (
    <>
      <Title text="Faults" />
      <Missing data={data} problem={problem} />
      {none && <p>Nothing is wrong: the last pass found no fault, and nothing keeps the service from its work or its messages from people.</p>}
      {own.map((t) => (
        <section key={t.text}>
          <p class="problem" role="alert">{t.text}</p>
          <p><b>What to do:</b> {t.advice}</p>
        </section>
      ))}
      {groups.map((g) => (
        <section key={g.code}>
          <h2>{g.code.replaceAll('_', ' ')} <small class="soft">{count(g.faults.length, 'fault')}</small></h2>
          <p><b>What to do:</b> {advice(g.code)}</p>
          <List rows={g.faults} keyOf={(f) => `${f.vm} ${f.host} ${f.text}`} estimate={32} label={`Faults: ${g.code}`} draw={(f) => <FaultRow f={f} />} />
        </section>
      ))}
      {s && s.configuration.length > 0 && (
        <section>
          <h2>Configuration</h2>
          <p><b>What to do:</b> change the entries below in the configuration, then reload it.</p>
          <ul class="plain">{s.configuration.map((text) => <li key={text}>{text}</li>)}</ul>
        </section>
      )}
      {s && s.logins_paused.length > 0 && (
        <section>
          <h2>Passwords that were refused</h2>
          <p><b>What to do:</b> correct the password in its file, then reload the configuration.</p>
          <ul class="plain">{s.logins_paused.map((l) => <li key={l.account}>{l.account} <span class="soft">tried again <Ago t={l.next_try} /></span></li>)}</ul>
        </section>
      )}
      {s && <Service s={s} />}
    </>
  );
}
