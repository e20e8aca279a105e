import { describe, expect, it, vi } from 'vitest';
import { QueryCache } from './cache';
import { Client, Problem, type Answer } from './client';
import type { Action, Host, Status } from './data';
import { eventReader } from './events';
import { fullestFirst, mean, named, naturally } from './loads';
import { offsets, rowsBetween } from './window';
import { actionTitle, ago, bytes, person, progress, progressWords, sentence, since, terms, troubles, versionId } from './words';

const WELL = {
  time: '2026-03-01T12:00:00Z', source: { state: 'up', since: null, error: null, seen_age_s: 5 }, store_error: null, failing_units: [], pass_error: null, frozen: false,
  frozen_by: null, mqtt: null, alarms: [], store: { used_bytes: 1, limit_bytes: 2, disk_free_bytes: 3, warning: null },
} as unknown as Status;
const NOW = Date.parse('2026-03-01T12:00:00Z') / 1000;

function action(changes: Partial<Action> = {}): Action {
  return {
    id: 7, version: 2, state: 'recommended', action: 'migrate', priority: 2, vm: 'v', from: 'a', to: 'b', host: null, vm_name: 'web-1', from_name: 'esx-1',
    to_name: 'esx-2', host_name: null, reason: 'balance_cpu', text: 'Because.', depends_on: [], group: null, imbalance_after: null,
    cost: { cpu_mhz_s: null, mem_mb_s: null }, benefit: { cpu_mhz_s: null, mem_mb_s: null }, duration_s: null, percent: null, approved_by: null, ended_by: null,
    why: null, created: null, approved: null, started: null, ended: null, ...changes,
  };
}

function host(name: string, cpu: number | null, mem: number | null, state = 'on'): Host {
  const load = (v: number | null) => ({ capacity: 1, demand: 1, entitlement: 1, load: v });
  return { id: name, name, state, vms: 0, standby_since: null, cpu: load(cpu), mem: load(mem) } as Host;
}

describe('the window of a list', () => {
  it('has the rows that are seen, whatever their heights', () => {
    const at = offsets([10, undefined, 30, 10], 20);
    expect(at).toEqual([0, 10, 30, 60, 70]);
    expect(rowsBetween(at, 0, 70)).toEqual({ first: 0, end: 4 });
    expect(rowsBetween(at, 10, 30)).toEqual({ first: 1, end: 2 });
    expect(rowsBetween(at, 29, 31)).toEqual({ first: 1, end: 3 });
    expect(rowsBetween(at, -100, -50)).toEqual({ first: 0, end: 0 });
    expect(rowsBetween(at, 500, 900)).toEqual({ first: 4, end: 4 });
    expect(rowsBetween([0], 0, 100)).toEqual({ first: 0, end: 0 });
  });
  it('covers each point of a long list by the row that stands there', () => {
    const heights = Array.from({ length: 1000 }, (_, i) => (i % 3 ? 20 + (i % 7) : undefined));
    const at = offsets(heights, 33);
    for (let top = 0; top < (at[1000] as number) - 1; top += 97) {
      const { first, end } = rowsBetween(at, top, top + 1);
      expect(end).toBeGreaterThan(first);
      expect(at[first]).toBeLessThanOrEqual(top);
      expect(at[first + 1]).toBeGreaterThan(top);
    }
  });
});

describe('words', () => {
  it('say what an action does', () => {
    expect(actionTitle(action())).toBe('Move web-1 from esx-1 to esx-2');
    expect(actionTitle(action({ action: 'place', from: null }))).toBe('Place web-1 on esx-2');
    expect(actionTitle(action({ action: 'power_off', vm: null, host: 'h', host_name: 'esx-3' }))).toBe('Put to standby: esx-3');
    expect(actionTitle(action({ vm_name: null, from_name: null, to_name: null }))).toBe('Move v from a to b');
    expect(versionId(action())).toBe('7.2');
  });
  it('give its terms, those that are known', () => {
    expect(terms(action())).toEqual([]);
    const all = terms(action({ duration_s: 90, cost: { cpu_mhz_s: 1200, mem_mb_s: null }, imbalance_after: 0.05, depends_on: [3, 4] }));
    expect(all).toEqual([
      ['Expected to take', '1 min 30 s'],
      ['Cost', 'takes 1.2 GHz s CPU from VMs'],
      ['Imbalance after it', '0.0500'],
      ['Only after', '3, 4'],
    ]);
  });
  it('tell how far it is, and never that it is done before it is', () => {
    const a = action({ state: 'running', started: '2026-03-01T11:59:40Z', duration_s: 60 });
    expect(progress(a, NOW)).toBeCloseTo(1 / 3);
    expect(progressWords(a, NOW)).toBe('running for 20 s of about 1 min');
    expect(progress(a, NOW + 3600)).toBe(0.99);
    expect(progress(a, NOW - 3600)).toBe(0);
    expect(progress(action({ state: 'running', started: a.started }), NOW)).toBe(null);
    expect(progress(action({ state: 'running', started: a.started, percent: 40 }), NOW)).toBe(0.4);
    expect(progressWords(action({ state: 'running', started: a.started, percent: 40 }), NOW)).toBe('running for 20 s, 40 % done');
    expect(progressWords(action({ state: 'approved' }), NOW)).toBe('approved, waits');
  });
  it('tell times in relation to now', () => {
    expect(ago('2026-03-01T11:55:00Z', NOW)).toBe('5 min ago, 11:55 UTC');
    expect(ago('2026-03-01T12:30:00Z', NOW)).toBe('in 30 min, 12:30 UTC');
    expect(ago('2026-02-27T12:00:00Z', NOW)).toBe('2 d ago, Feb 27, 12:00 UTC');
    expect(ago(null, NOW)).toBe('at an unknown time');
    expect(ago('nonsense', NOW)).toBe('at an unknown time');
    expect(since('2026-03-01T11:55:00Z', NOW)).toBe('since 11:55 UTC, for 5 min');
    expect(since('2026-02-27T12:00:00Z', NOW)).toBe('since Feb 27, 12:00 UTC, for 2 d');
    expect(since(null, NOW)).toBe('since an unknown time');
    expect(sentence('last night: nothing')).toBe('Last night: nothing.');
    expect(person('engine')).toBe('Ballast itself');
  });
  it('tell what keeps the service from its work', () => {
    const texts = (changes: object) => troubles({ ...WELL, ...changes }).map((t) => t.text);
    expect(texts({})).toEqual([]);
    expect(texts({ source: { ...WELL.source, state: 'lost', error: 'no route' }, frozen: true, frozen_by: 'ann' })).toEqual(['The hypervisor cannot be read: no route.', 'Actions are paused by ann.']);
    expect(texts({ store: { ...WELL.store, warning: '9 MiB are left' } })).toEqual(['9 MiB are left.']);
  });
  it('tell what keeps its messages from people', () => {
    const target = { target: 'pager', address: 'https://pager', failing_since: null, error: null, next_attempt: null, delivered_at: null, waiting: 2, given_up: 0 };
    const broker = { url: 'mqtt://b', connected: true, since: '2026-03-01T11:00:00Z', error: null, unsent: 1, refused: 0, refused_kept: 0, refusal: null };
    const told = (changes: object) => troubles({ ...WELL, ...changes });
    expect(told({ alarms: [target], mqtt: broker })).toEqual([]);
    const all = told({
      alarms: [target, { ...target, target: 'mail', failing_since: '2026-02-27T10:30:00Z', error: 'refused.' }],
      mqtt: { ...broker, connected: false, error: 'no route', refused: 3, refused_kept: 1, refusal: 'not authorized' },
    });
    expect(all.map((t) => t.text)).toEqual([
      'Alarms do not reach mail (https://pager) since Feb 27, 10:30 UTC: refused. 2 events wait.',
      'The MQTT broker mqtt://b is not connected since 11:00 UTC: no route. 1 event waits.',
      'The MQTT broker refuses messages: not authorized. 1 event is sent again for an hour.',
    ]);
    for (const t of all) expect(t.advice).not.toBe('');
  });
  it('say sizes', () => {
    expect([bytes(0), bytes(1000), bytes(5 << 20), bytes(3 * 2 ** 30)]).toEqual(['0 KiB', '1 KiB', '5 MiB', '3 GiB']);
  });
});

describe('hosts', () => {
  const hosts = [host('esx-10', 0.2, 0.3), host('esx-2', 0.9, 0.1), host('esx-1', null, null, 'standby')];
  it('come by name as people count, or the fullest first', () => {
    expect(naturally(hosts).map((h) => h.name)).toEqual(['esx-1', 'esx-2', 'esx-10']);
    expect(fullestFirst(hosts).map((h) => h.name)).toEqual(['esx-2', 'esx-10', 'esx-1']);
  });
  it('are found by name or state', () => {
    expect(named(hosts, ' ESX-1 ').map((h) => h.name)).toEqual(['esx-10', 'esx-1']);
    expect(named(hosts, 'standby').map((h) => h.name)).toEqual(['esx-1']);
    expect(named(hosts, '')).toHaveLength(3);
  });
  it('have a mean of what is known', () => {
    expect(mean([0.2, null, 0.4])).toBeCloseTo(0.3);
    expect(mean([null])).toBe(null);
  });
});

describe('the reader of events', () => {
  it('gives whole events, however the text is cut', () => {
    const text = ': nothing\n\nid: 4\nevent: host\ndata: {"id": 4, "kind": "host"}\n\ndata: not json\n\nid: 5\r\ndata: {"id": 5,\r\ndata: "kind": "action"}\r\n\r\ndata: {"id": 6';
    for (const size of [1, 2, 3, 7, 50, 1000]) {
      const got: number[] = [];
      const read = eventReader((e) => got.push(e.id));
      for (let i = 0; i < text.length; i += size) read(text.slice(i, i + size));
      expect(got).toEqual([4, 5]);
    }
  });
});

describe('the cache', () => {
  class Service {
    asked: [string, string | null][] = [];
    next: Answer | Problem = { etag: '"a"', body: { n: 1 } };
    get(path: string, etag: string | null): Promise<Answer> {
      this.asked.push([path, etag]);
      return this.next instanceof Problem ? Promise.reject(this.next) : Promise.resolve(this.next);
    }
  }
  const flush = () => vi.advanceTimersByTimeAsync(0);

  it('asks once for all users, with the tag of what it has, and stops with the last of them', async () => {
    vi.useFakeTimers();
    const service = new Service();
    const cache = new QueryCache(service as unknown as Client, () => false);
    const changed = [vi.fn(), vi.fn()];
    const leave = changed.map((f) => cache.use('/x', 1000, f));
    await flush();
    expect(service.asked).toEqual([['/x', null]]);
    expect(changed.map((f) => f.mock.calls.length)).toEqual([1, 1]);
    const first = cache.entry('/x').data;
    service.next = { etag: '"a"', body: undefined };
    await vi.advanceTimersByTimeAsync(1000);
    expect(service.asked[1]).toEqual(['/x', '"a"']);
    expect(cache.entry('/x').data).toBe(first);
    expect(changed[0]).toHaveBeenCalledTimes(1); // nothing has changed
    service.next = new Problem(503, 'busy');
    await vi.advanceTimersByTimeAsync(1000);
    expect(cache.entry('/x').problem?.message).toBe('busy');
    expect(cache.entry('/x').data).toBe(first);
    service.next = { etag: '"b"', body: { n: 2 } };
    await cache.refresh();
    expect(cache.entry('/x')).toMatchObject({ data: { n: 2 }, problem: null });
    leave.forEach((f) => f());
    const n = service.asked.length;
    await vi.advanceTimersByTimeAsync(60000);
    expect(service.asked.length).toBe(n);
    service.next = new Problem(401, 'expired'); // the client tells of it; what was read stays
    cache.use('/x', 1000, () => undefined);
    await flush();
    expect(cache.entry('/x')).toMatchObject({ data: { n: 2 }, problem: null });
    vi.useRealTimers();
  });

  it('asks in its time, not at each event, for what is about hours', async () => {
    vi.useFakeTimers();
    const service = new Service();
    const cache = new QueryCache(service as unknown as Client, () => false);
    cache.use('/series', 60000, () => undefined);
    cache.use('/hosts', 5000, () => undefined);
    await flush();
    await cache.refresh();
    expect(service.asked.map(([path]) => path)).toEqual(['/series', '/hosts', '/hosts']);
    await vi.advanceTimersByTimeAsync(60000);
    expect(service.asked.filter(([path]) => path === '/series').length).toBe(2);
    cache.use('/series', 5000, () => undefined); // another part of the page needs it more often
    await cache.refresh();
    expect(service.asked.filter(([path]) => path === '/series').length).toBe(3);
    vi.useRealTimers();
  });

  it('asks nothing while the page is hidden', async () => {
    vi.useFakeTimers();
    const service = new Service();
    let hidden = false;
    const cache = new QueryCache(service as unknown as Client, () => hidden);
    cache.use('/x', 1000, () => undefined);
    await flush();
    hidden = true;
    await vi.advanceTimersByTimeAsync(10000);
    expect(service.asked.length).toBe(1);
    hidden = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(service.asked.length).toBe(2);
    cache.stop();
    vi.useRealTimers();
  });
});

describe('the client', () => {
  const signedIn = (csrf: string, who = 'a (token)') =>
    ({ ok: true, who, role: 'operator', session: { since: '', expires: '', idle_s: 60, csrf_token: csrf } });
  const reply = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

  /** Answers of the service, one after another; what was asked. */
  function service(...answers: Response[]) {
    const asked: { path: string; method: string; csrf: string | null; token: boolean }[] = [];
    vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      asked.push({ path, method: init.method ?? 'GET', csrf: headers.get('X-CSRF-Token'), token: headers.has('Authorization') });
      const next = answers.shift();
      return next ? Promise.resolve(next) : Promise.reject(new Error('no answer'));
    });
    return asked;
  }

  it('sends the CSRF token with what changes something, and never the token', async () => {
    const asked = service(reply(200, signedIn('c1')), reply(200, {}), reply(200, { n: 1 }), reply(200, { session: null }));
    const client = new Client(() => undefined);
    expect((await client.signIn('secret')).who).toBe('a (token)');
    await client.get('/x');
    expect(await client.post('/y', {})).toEqual({ n: 1 });
    await client.signOut();
    expect(asked.map((a) => [a.method, a.csrf, a.token])).toEqual([['POST', null, false], ['GET', null, false], ['POST', 'c1', false], ['DELETE', 'c1', false]]);
    await expect(client.get('/x')).rejects.toThrow('session');
    expect(asked.length).toBe(4); // signed out, nothing is asked
  });
  it('tells once that the session has ended, and asks nothing until the next sign-in', async () => {
    const asked = service(reply(200, signedIn('c1')), reply(401, { detail: 'gone' }), reply(200, { who: null, session: null }), reply(200, signedIn('c2')), reply(200, {}));
    const ended = vi.fn();
    const client = new Client(ended);
    await client.current();
    await expect(client.get('/x')).rejects.toThrow('gone');
    await expect(client.get('/x')).rejects.toThrow('session');
    expect(ended).toHaveBeenCalledTimes(1);
    await client.signIn('t');
    await client.post('/y', {});
    expect(asked.at(-1)?.csrf).toBe('c2');
  });
  it('reads again what was on its way while another tab signed in', async () => {
    const asked = service(reply(200, signedIn('c1')), reply(401, { detail: 'gone' }), reply(200, signedIn('c2')), reply(200, { n: 3 }));
    const ended = vi.fn();
    const client = new Client(ended);
    await client.current();
    expect((await client.get('/x')).body).toEqual({ n: 3 });
    expect(ended).not.toHaveBeenCalled();
    expect(asked.map((a) => a.path.split('/').pop())).toEqual(['session', 'x', 'session', 'x']);
  });
  it('goes on with its session while the service does not say whether it has ended', async () => {
    const asked = service(reply(200, signedIn('c1')), reply(401, { detail: 'gone' }), reply(429, { detail: 'too many' }), reply(401, { detail: 'gone' }),
      reply(200, signedIn('c2')), reply(200, { n: 4 }));
    const ended = vi.fn();
    const client = new Client(ended);
    await client.current();
    await expect(client.get('/x')).rejects.toThrow('too many');
    expect((await client.get('/x')).body).toEqual({ n: 4 });
    expect(ended).not.toHaveBeenCalled();
    expect(asked.length).toBe(6);
  });
  it('takes over the session of another tab, if it is of the one user', async () => {
    const other = vi.fn();
    const asked = service(reply(200, signedIn('c1')), reply(403, { detail: 'csrf' }), reply(200, signedIn('c2')), reply(200, { n: 2 }),
      reply(403, { detail: 'csrf' }), reply(200, signedIn('c3', 'b (token)')), reply(403, { detail: 'no role' }), reply(200, signedIn('c3', 'b (token)')));
    const client = new Client(() => undefined, other);
    await client.current();
    expect(await client.post('/y', {})).toEqual({ n: 2 });
    expect(asked.at(-1)?.csrf).toBe('c2');
    await expect(client.post('/y', {})).rejects.toThrow('csrf');
    expect(other).toHaveBeenCalledTimes(1);
    await expect(client.post('/y', {})).rejects.toThrow('no role');
    expect(asked.length).toBe(8);
  });
});
