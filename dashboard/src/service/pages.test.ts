import { describe, expect, it } from 'vitest';
import words from '../../../conf/schema/words.json';
import { address, readAddress } from './address';
import { advice, byCode } from './advice';
import { setTimeZone } from '../charts/format';
import type { Action, Pool, Vm } from './data';
import { eventText, type StoredEvent } from './events_words';
import { byCheck, checkTitle, stagesText, type Candidate } from './explain';
import { lastNight } from './nights';
import { poolTree, within } from './pool_tree';
import { energyCurves, forecastCurves, type EnergyRow, type Forecast } from './power_curves';
import { latest, seriesCurves, suffering, type Series } from './series_curves';
import { tellPeriod, tellSummary, type Summary } from './summary';
import { score, served, VmTable, type VmQuery } from './vm_table';
import { isLittle, kwh, mhz, mib, scoreWords } from './words';

describe('addresses', () => {
  it('name page, item and settings, and come back from text', () => {
    for (const item of ['vm-7', 'a/b', '50%', 'x?y&z=1#', '<b>', '']) {
      const a = readAddress(address('vms', item, { why: '1', find: 'a&b=c' }));
      expect([a.page, a.item, a.query.get('why'), a.query.get('find')]).toEqual(['vms', item, '1', 'a&b=c']);
    }
    expect(address('vms', '', { find: '' })).toBe('#/vms');
  });
  it('are read whatever stands in them', () => {
    expect(readAddress('').page).toBe('');
    expect(readAddress('#/').page).toBe('');
    expect(readAddress('#/vms/%E0%A4%A').item).toBe('%E0%A4%A');
    expect(readAddress('#/hosts/a?find=x?y').query.get('find')).toBe('x?y');
  });
});

function of(demand: number | null, entitlement = demand, score: number | null = null) {
  return { demand, entitlement, delivered: null, score };
}

function vm(name: string, changes: Partial<Vm> = {}): Vm {
  return {
    id: `id-${name}`, name, state: 'on', host: 'h1', host_name: 'esx-1', pool: null, automation: 'inherit', vcpus: 1, mem_mb: 1024,
    demand_unknown: false, ballooned_mb: 0, swapped_mb: 0, cpu: of(100), mem: of(100), last_migrated: null, ...changes,
  };
}

describe('the table of VMs', () => {
  const all = [
    vm('a', { cpu: of(100, 50, 97), mem: of(100, 100, 79.99) }),
    vm('b', { host: 'h2', host_name: 'esx-10', mem: of(300, 300, 99.5), pool: 'p' }),
    vm('Web', { host: 'h3', host_name: 'esx-2', cpu: of(200, 180, 94.96) }),
    vm('z', { state: 'off', host: null, host_name: null, cpu: of(null), mem: of(null) }),
  ];
  const table = new VmTable();
  table.read([JSON.stringify({ vms: all.slice(0, 2) }), JSON.stringify({ vms: all.slice(2) })]);
  const names = (q: Partial<VmQuery>, first = 0, end = 99) => table.rows({ words: '', host: '', pools: [], order: 'name', ...q }, first, end).rows.map((v) => v.name);
  it('finds by name, host, state and pool', () => {
    expect(names({})).toEqual(['a', 'b', 'Web', 'z']);
    expect(names({ words: ' wEb ' })).toEqual(['Web']);
    expect(names({ words: 'esx-1' })).toEqual(['a', 'b']);
    expect(names({ words: 'off' })).toEqual(['z']);
    expect(names({ host: 'h3' })).toEqual(['Web']);
    expect(names({ pools: ['p', 'q'] })).toEqual(['b']);
  });
  it('puts them in an order, unknown ones last', () => {
    expect(names({ order: 'cpu' })).toEqual(['Web', 'a', 'b', 'z']);
    expect(names({ order: 'mem' })).toEqual(['b', 'a', 'Web', 'z']);
    expect(names({ order: 'host' })).toEqual(['z', 'a', 'Web', 'b']);
    expect(names({ order: 'served' })).toEqual(['a', 'Web', 'b', 'z']);
    expect(names({ order: 'score' })).toEqual(['a', 'Web', 'b', 'z']);
  });
  it('finds those that got too little', () => {
    expect(names({ below: 95 })).toEqual(['a', 'Web']);
    expect(names({ below: 80 })).toEqual(['a']);
    expect(names({ below: 99, words: 'web' })).toEqual(['Web']);
    expect(all.map((v) => scoreWords(score(v)))).toEqual(['79.9 %', '99.5 %', '94.9 %', '-']);
    expect(all.map((v) => isLittle(score(v)))).toEqual([true, false, true, false]);
    expect(scoreWords(100)).toBe('100 %');
  });
  it('gives the rows that are asked for, and counts all', () => {
    expect(table.rows({ words: 'esx', host: '', pools: [], order: 'name' }, 1, 2)).toMatchObject({ total: 4, matched: 3, first: 1, rows: [{ name: 'b' }] });
    expect(names({}, 3, 99)).toEqual(['z']);
  });
  it('knows what a VM gets of its demand', () => {
    expect(all.map(served)).toEqual([0.5, 1, 0.9, null]);
    expect(served({ cpu: { demand: 10, entitlement: 20 }, mem: { demand: 0, entitlement: 0 } })).toBe(1);
  });
});

describe('pools', () => {
  const pool = (id: string, parent: string | null) => ({ id, name: id, parent }) as Pool;
  const rows = poolTree([pool('b', null), pool('a2', 'a'), pool('a', null), pool('a1', 'a'), pool('a2x', 'a2'), pool('lost', 'gone')]);
  it('are a tree, parents before children', () => {
    expect(rows.map((r) => `${r.depth}${r.pool.id}`)).toEqual(['0b', '0a', '1a2', '2a2x', '1a1', '0lost']);
  });
  it('hold others', () => {
    expect(within(rows, 'a')).toEqual(['a', 'a2', 'a2x', 'a1']);
    expect(within(rows, 'a2x')).toEqual(['a2x']);
    expect(within(rows, 'none')).toEqual([]);
  });
});

describe('why a VM stays', () => {
  it('is told by check: the chosen host first, then where it is, then the most frequent', () => {
    const c = (host: string, verdict: Candidate['verdict'], check: string) => ({ host, verdict, check, text: check, imbalance_after: null });
    const groups = byCheck([c('1', 'rejected', 'memory'), c('2', 'rejected', 'no_gain'), c('3', 'current', 'current_host'), c('4', 'rejected', 'no_gain'), c('5', 'chosen', 'none')]);
    expect(groups.map((g) => `${g.check} ${g.hosts.length}`)).toEqual(['none 1', 'current_host 1', 'no_gain 2', 'memory 1']);
    expect(groups.map(checkTitle)).toEqual(['Recommended', 'The VM runs here', 'Would not lower the imbalance', 'The memory does not fit']);
    expect(checkTitle({ check: 'a_new_check', verdict: 'rejected', hosts: [] })).toBe('a_new_check');
  });
  it('names the stage that refuses a host, each by itself', () => {
    const c = (host: string, stage: string): Candidate =>
      ({ host, verdict: 'rejected', check: stage === 'web/licences' ? 'fit_quantity' : 'fit_filter', text: null, imbalance_after: null, subjects: { stage } });
    const groups = byCheck([c('1', 'web/tier'), c('2', 'web/zone'), c('3', 'web/zone'), c('4', 'web/licences')]);
    expect(groups.map(checkTitle)).toEqual(['The stage web/zone refuses the host', 'The stage web/tier refuses the host', 'The stage web/licences refuses the host']);
    expect(groups.map((g) => g.hosts.map((h) => h.host))).toEqual([['2', '3'], ['1'], ['4']]);
    expect(stagesText([{ stage: 'web/tier', hosts: 3 }, { stage: 'web/zone', hosts: 1 }])).toBe('3 after web/tier, 1 after web/zone');
  });
});

describe('what happened', () => {
  const none = { done: 0, failed: 0, cancelled: 0, rejected: 0, reasons: [] };
  const s: Summary = {
    since: '2026-03-01T18:00:00Z', until: '2026-03-02T07:00:00Z',
    moves: { ...none, done: 12, failed: 2, reasons: [{ n: 1, text: 'no route' }] }, standby: { ...none, done: 1 },
    wakes: { ...none, done: 2, late: 1, slowest_host_name: 'esx-1', slowest_s: 300, slowest_expected_s: 120 },
    placed: none, maintenance_entered: { ...none, done: 1 }, maintenance_left: none,
    energy: { used_kwh: 12.5, saved_kwh: 3.25, saved_percent: 20, host_s: 1000, asleep_s: 250, unknown_s: 0 },
    lacking: { cpu: { unmet_mhz_s: 7200e3, unmet_percent: 0.5, worst: '2026-03-02T06:00:00Z', worst_mhz: 1500 }, mem: { unmet_mb_s: 0, unmet_percent: 0, worst: null } },
    unread_s: 0, faults: { came: 2, gone: 1, standing: 1, more: false, codes: [{ code: 'avoid', came: 2 }] }, source_lost: 0,
  };
  it('is told in a few lines', () => {
    expect(tellPeriod(s)).toBe('From Mar 1, 18:00 to 07:00 UTC (13 h).');
    expect(Object.fromEntries(tellSummary(s))).toEqual({
      Moves: '12 done, 2 failed, 1 of them: no route',
      'Put to standby': '1 host',
      Woken: '2 hosts woken; 1 late (esx-1: 5 min, not 2 min)',
      Energy: '12.5 kWh used, 3.25 kWh saved; 25 % of the host time in standby',
      'CPU shortage': '2 GHz h, 0.5 % of demand; most: 1.5 GHz in the hour from Mar 2, 06:00',
      'Memory shortage': 'none: VMs got what they asked for',
      Faults: '2 came (2 avoid), 1 of them gone; 1 now',
      'Into maintenance': '1 host',
    });
  });
  it('calls less than a hundredth so', () => {
    const cpu = { unmet_mhz_s: 5, unmet_percent: 2.5e-6, worst: '2026-03-02T06:00:00Z', worst_mhz: 0.004 };
    expect(tellSummary({ ...s, lacking: { ...s.lacking, cpu } })).toContainEqual([
      'CPU shortage', 'less than 0.01 GHz h, less than 0.01 % of demand; most: less than 0.01 GHz in the hour from Mar 2, 06:00',
    ]);
  });
  it('began in the evening, or with the night that was told', () => {
    const at = (text: string) => Date.parse(text) / 1000;
    expect(lastNight(null, at('2026-03-02T07:00:00Z'))).toBe('2026-03-01T18:00:00Z');
    expect(lastNight(null, at('2026-03-02T20:00:00Z'))).toBe('2026-03-01T18:00:00Z');
    expect(lastNight(null, at('2026-03-02T00:30:00Z'))).toBe('2026-03-01T18:00:00Z');
    const night = { from: '2026-03-01T21:00:00Z', until: '2026-03-02T06:00:00Z', text: '', proofs_due: 0, hosts: [] };
    expect(lastNight(night, at('2026-03-02T07:00:00Z'))).toBe('2026-03-01T21:00:00Z');
    expect(lastNight(night, at('2026-03-04T07:00:00Z'))).toBe('2026-03-03T18:00:00Z');
    setTimeZone('America/Los_Angeles'); // at 07:00 UTC it is late evening there, and the night before counts
    expect(lastNight(null, at('2026-03-02T07:00:00Z'))).toBe('2026-03-01T02:00:00Z');
    expect(lastNight(null, at('2026-03-02T15:00:00Z'))).toBe('2026-03-02T02:00:00Z');
    setTimeZone('UTC');
  });
  it('is told event by event', () => {
    const e = (data: StoredEvent['data']): StoredEvent => ({ id: 1, time: '', kind: 'host', type: 'host', severity: 'info', subject: null, data });
    const action = { state: 'failed', action: 'migrate', vm: 'v', vm_name: 'web', from: 'a', from_name: 'a', to: 'b', to_name: 'b', why: 'no route', ended_by: null } as Action;
    expect(eventText(e({ text: 'host a is on' }))).toBe('host a is on');
    expect(eventText(e({ action }))).toBe('Move web from a to b: failed; no route');
    expect(eventText(e({}))).toBe('host');
  });
});

describe('faults', () => {
  it('come by code, each with what to do', () => {
    const groups = byCode([{ code: 'avoid' }, { code: 'vsan' }, { code: 'avoid' }]);
    expect(groups.map((g) => [g.code, g.faults.length])).toEqual([['avoid', 2], ['vsan', 1]]);
    for (const g of groups) expect(advice(g.code)).not.toBe('');
  });
});

describe('the closed lists of words', () => {
  it('have advice for each fault, and a title for each check', () => {
    const { fault_code, check } = words.$defs as Record<string, { enum: string[] }>;
    expect(fault_code?.enum.filter((code) => advice(code) === '')).toEqual([]);
    expect(check?.enum.filter((c) => checkTitle({ check: c, verdict: 'rejected', hosts: [] }) === c)).toEqual([]);
  });
});

describe('power', () => {
  const row = (time: string, used: number, all: number) => ({ time, length_s: 86400, used_kwh: used, all_on_kwh: all }) as EnergyRow;
  it('draws a bar a day', () => {
    const drawn = energyCurves([row('2026-03-01T00:00:00Z', 5, 8), row('2026-03-02T00:00:00Z', 6, 8)]);
    expect(drawn?.curves.map((c) => c.points.v)).toEqual([[8, 8, ...Array(5).fill(null)], [5, 6, ...Array(5).fill(null)]]);
    expect(drawn?.curves[0]?.points.t).toEqual([0, 1, 2, 3, 4, 5, 6].map((d) => 86400 * d + 43200));
    expect(drawn?.axis.to).toBe(7 * 86400);
    expect(energyCurves([])).toBe(null);
  });
  it('draws what is expected against what is on', () => {
    const w = (cpu_mhz: number | null) => ({ cpu_mhz, mem_mb: null });
    const f: Forecast = {
      time: '2026-03-01T00:15:00Z', dpm: true, proactive: true, doubted_since: null, slot_s: 900,
      past: [{ time: '2026-03-01T00:00:00Z', expected: w(null), came: w(2000), woken: 0 }],
      ahead: [{ time: '2026-03-01T00:15:00Z', expected: w(3000), days: 5 }],
    };
    const drawn = forecastCurves(f, 'cpu_mhz', 1000, 8000);
    expect(drawn?.curves.map((c) => [c.name, c.points.v])).toEqual([['expected', [null, 3]], ['came', [2]], ['capacity on now', [8, 8]]]);
    expect(drawn?.axis.to).toBe(1800);
    expect(forecastCurves({ ...f, past: [], ahead: [] }, 'cpu_mhz', 1000, null)).toBe(null);
  });
  it('has figures in fitting units', () => {
    expect([mhz(512.4), mhz(2500), mhz(null), mib(512), mib(2048), kwh(0.25), kwh(12), kwh(null)]).toEqual(['512 MHz', '2.5 GHz', '-', '512 MiB', '2 GiB', '250 Wh', '12 kWh', '-']);
  });
});

describe('figures over time', () => {
  const s: Series = { since: '2026-03-01T00:00:00Z', step_s: 60, points: 3, figures: { cpu_demand: [1000, null, 3000], cpu_delivered: [null, null, null] } };
  it('become curves, those that are known', () => {
    const wish = (figure: string) => ({ figure, name: figure, kind: 'steps', style: 0 }) as const;
    const drawn = seriesCurves(s, [wish('cpu_demand'), wish('cpu_delivered'), wish('other')], 1000);
    expect(drawn?.curves.map((c) => [c.name, c.points.t, c.points.v])).toEqual([['cpu_demand', [0, 60, 120], [1, null, 3]]]);
    expect(drawn?.axis).toEqual({ start: Date.parse('2026-03-01T00:00:00Z') / 1000, from: 0, to: 180 });
    const passes = { ...s, points: 5, figures: { imbalance: [null, 0.2, null, null, 0.1] } };
    expect(seriesCurves(passes, [wish('imbalance')], 1, 60)?.curves[0]?.points.v).toEqual([null, 0.2, 0.2, null, 0.1]);
    expect(seriesCurves(s, [wish('cpu_delivered')], 1)).toBe(null);
    expect(seriesCurves({ ...s, since: null }, [wish('cpu_demand')], 1)).toBe(null);
  });
  it('have a newest value', () => {
    expect([latest(s, 'cpu_demand'), latest(s, 'cpu_delivered'), latest(s, 'none')]).toEqual([3000, null, null]);
    expect(latest({ ...s, figures: { x: [5, null, null] } }, 'x', 2)).toBe(null);
  });
  it('count the VMs that got too little, unless that is long ago', () => {
    const is = (...newer: null[]) => suffering({ ...s, figures: { vms_from_80: [9, 3, ...newer], vms_below_80: [9, 1, ...newer], vms_unknown: [0, 2, ...newer] } });
    expect(is(null, null)).toEqual({ vms: 4, unknown: 2 });
    expect(is(null, null, null, null, null)).toBe(null);
    expect(suffering(s)).toBe(null);
  });
});
