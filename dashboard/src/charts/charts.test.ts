import { afterEach, describe, expect, it } from 'vitest';
import { countUp, roundUp, timeTicks, valueTicks } from './axes';
import { range, read, tableTimes, tabulate, tell, valueAt, type Curve } from './curves';
import { clockInZone, dayAndClock, duration, figure, fromLocal, number, setTimeZone, shortNumber, timestamp, timeZone, utcDay, zoneOffset } from './format';
import { colour, paint, parseCells, readCell, tabulateGrid, tellGrid, type Grid } from './grid';

const MONDAY = 1767571200; // 2026-01-05T00:00:00Z

describe('numbers', () => {
  it.each([
    [0, '', '0'],
    [-0, '', '0'],
    [1, '', '1'],
    [1280, '', '1,280'],
    [1234567.5, '', '1,234,568'],
    [999.96, '', '1,000'],
    [0.1, '', '0.1'],
    [0.123456, '', '0.123'],
    [12.345, '', '12.3'],
    [99.994, '%', '99.99'],
    [100, '%', '100'],
    [0.00001234, '', '1.23e-5'],
    [-3.25, '', '-3.25'],
    [null, '', '-'],
    [NaN, '', '-'],
  ])('%s %s is %s', (v, unit, text) => expect(number(v, unit)).toBe(text));

  it.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [300, '5 min'],
    [3599.8, '1 h'],
    [7500, '2 h 5 min'],
    [86400, '1 d'],
    [7 * 86400 + 3600, '7 d 1 h'],
    [-90, '-1 min 30 s'],
  ])('%s s are %s', (s, text) => expect(duration(s)).toBe(text));

  it('units follow known figures only', () => {
    expect(figure(12.3, 'kWh')).toBe('12.3 kWh');
    expect(figure(null, 'kWh')).toBe('-');
  });
  it('labels are short', () => expect([0.075, 9999, 12500, 1.5e6].map(shortNumber)).toEqual(['0.075', '9,999', '12.5 k', '1.5 M']));
  it('times are in UTC', () => {
    expect(dayAndClock(MONDAY + 9 * 3600 + 300)).toBe('Jan 5, 09:05');
    expect(timestamp(MONDAY - 1)).toBe('2026-01-04 23:59');
  });
});

describe('axes', () => {
  it.each([
    [0, 1], [-3, 1], [NaN, 1], [Infinity, 1], [0.9, 1], [1, 1], [1.1, 1.2], [5, 6], [9, 10], [0.011, 0.012], [267, 320], [1e-7, 1e-7],
  ])('%s is rounded up to %s', (v, up) => expect(roundUp(v)).toBeCloseTo(up, 12));
  it('counts have whole quarters', () => expect([0, 3, 5, 10, 32, 267].map(countUp)).toEqual([4, 4, 8, 12, 32, 320]));
  it('values have five ticks', () => expect(valueTicks(20, 100)).toEqual([20, 40, 60, 80, 100]));

  it.each([[60], [3600], [6 * 3600], [86400], [7 * 86400], [400 * 86400], [5000 * 86400]])('%s s have some ticks, and not too many', (span) => {
    const ticks = timeTicks({ start: MONDAY + 17, from: 0, to: span }, 8);
    expect(ticks.length).toBeLessThanOrEqual(9);
    expect(ticks.length).toBeGreaterThanOrEqual(span > 60 ? 2 : 1);
    for (const t of ticks) expect(t.t >= 0 && t.t <= span).toBe(true);
  });
  it('midnight has its day', () => {
    const ticks = timeTicks({ start: MONDAY + 20 * 3600, from: 0, to: 8 * 3600 }, 8);
    expect(ticks.map((t) => t.label)).toEqual(['20:00\nJan 5', '21:00', '22:00', '23:00', '00:00\nJan 6', '01:00', '02:00', '03:00', '04:00']);
  });
});

const axis = { start: MONDAY, from: 0, to: 2400 };
const line: Curve = { name: 'imbalance', kind: 'line', style: 0, points: { t: [0, 600, 1200, 1800], v: [1, null, 3, 2] } };

describe('curves', () => {
  it('the value is the last one', () => {
    expect([-1, 0, 599, 600, 1200, 9999].map((t) => valueAt(line.points, t))).toEqual([null, 1, 1, null, 3, 2]);
    expect(valueAt({ t: [], v: [] }, 1)).toBeNull();
  });
  it('is told', () => {
    expect(tell([line], 'W')).toBe('imbalance: 1 to 3 W, mean 2 W, 2 W at the end.');
    expect(tell([line], '', true)).toBe('imbalance: 2 at the end.');
    expect(tell([{ ...line, points: { t: [0, 1], v: [5, 5] } }], '%')).toBe('imbalance: 5 % throughout.');
    expect(tell([{ ...line, points: { t: [0], v: [null] } }], '%')).toBe('Nothing is known.');
    expect(tell([], '')).toBe('Nothing is known.');
  });
  it('what is known of all points goes before those that are drawn', () => {
    const whole = { mean: 1.5, last: 7, at: tableTimes(axis).map((_, i) => i) };
    const c = { ...line, points: { ...line.points, whole } };
    expect(tell([c], '')).toBe('imbalance: 1 to 3, mean 1.5, 7 at the end.');
    expect(tabulate('I', [c], axis).rows[24]).toEqual({ head: 'Jan 5, 00:40', cells: ['24'] });
  });
  it('a band has two edges', () => {
    const band: Curve = { ...line, name: 'range', kind: 'band', low: { t: [0, 600, 1200, 1800], v: [0.5, null, 1, -1] } };
    expect(tell([band], '')).toBe('range: -1 to 3.');
    expect(read([band], '', 1200)).toBe('highest 3, lowest 1');
    expect(range([band])).toEqual([-1, 3.2]);
    const table = tabulate('Load', [band], axis);
    expect(table.columns).toEqual(['Time (UTC)', 'lowest', 'highest']);
    expect(table.rows[0]).toEqual({ head: 'Jan 5, 00:00', cells: ['0.5', '1'] });
    expect(table.rows).toHaveLength(25);
  });
  it('a range is never empty', () => {
    expect(range([])).toEqual([0, 1]);
    expect(range([line], 100, 100)).toEqual([100, 101]);
  });
});

const grid: Grid = {
  rows: [
    { name: 'a', mean: 0.5, highest: 0.6, known: 100 },
    { name: 'b', mean: null, highest: null, known: 0 },
    { name: 'c', mean: 0.4, highest: 2.6, known: 50 },
  ],
  fold: 2,
  ...parseCells(['3200ff', 'fe64ff']),
};

describe('grids', () => {
  it('cells are read', () => {
    expect(grid.columns).toBe(3);
    expect([...grid.cells]).toEqual([50, 0, NaN, 254, 100, NaN]);
    expect(parseCells([]).columns).toBe(0);
  });
  it('are told', () => {
    expect(tellGrid(grid)).toBe('Highest: 2.6 on c. Highest mean: 0.5 on a.');
    expect(tellGrid({ ...grid, rows: [] })).toBe('Nothing is known.');
  });
  it('are a table', () =>
    expect(tabulateGrid('CPU', grid, 'Host', 'on').rows[1]).toEqual({ head: 'b', cells: ['-', '-', '0'] }));
  it('a cell is read with its rows', () => {
    expect(readCell(grid, 0, 0, 'off')).toBe('a to b 0.5');
    expect(readCell(grid, 1, 0.2, 'off')).toBe('a to b off');
    expect(readCell(grid, -1, 1, 'off')).toBe('c at least 2.54');
  });
  it('colours go from dark to light, and end there', () => {
    expect(colour(0)).toEqual([0x44, 0x01, 0x54]);
    expect(colour(7)).toEqual([0xfd, 0xe7, 0x25]);
    const light = Array.from({ length: 101 }, (_, i) => colour(i / 100)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b);
    light.slice(1).forEach((v, i) => expect(v).toBeGreaterThan((light[i] as number) - 1));
  });
  it('what is not known is transparent', () => expect([...paint(grid)].filter((_, i) => i % 4 === 3)).toEqual([255, 255, 0, 255, 255, 0]));
});

describe('a time zone', () => {
  const at = (text: string) => Date.parse(text) / 1000;
  afterEach(() => setTimeZone('UTC'));
  it('is UTC until another one is named that is known', () => {
    expect(clockInZone(at('2026-07-01T09:05:00Z'))).toBe('09:05 UTC');
    setTimeZone('No/Where');
    expect([timeZone(), clockInZone(at('2026-07-01T09:05:00Z'))]).toEqual(['UTC', '09:05 UTC']);
  });
  it('has its clocks, and a name for them', () => {
    setTimeZone('Europe/Berlin');
    expect([clockInZone(at('2026-01-01T23:30:00Z')), clockInZone(at('2026-07-01T09:05:59Z'))]).toEqual(['00:30 CET', '11:05 CEST']);
    expect([dayAndClock(at('2026-01-01T23:30:00Z')), timestamp(at('2025-12-31T23:30:00Z')), utcDay(at('2026-01-01T23:30:00Z'))]).toEqual(['Jan 2, 00:30', '2026-01-01 00:30', 'Jan 1']);
    setTimeZone('America/New_York');
    expect(clockInZone(at('2026-01-01T23:30:00Z'))).toBe('18:30 EST');
    setTimeZone('Asia/Kathmandu');
    expect(clockInZone(at('2026-01-01T00:00:00Z'))).toBe('05:45 GMT+5:45');
  });
  it('sets its clocks twice a year', () => {
    setTimeZone('Europe/Berlin');
    expect([zoneOffset(at('2026-03-29T00:59:59Z')), zoneOffset(at('2026-03-29T01:00:00Z')), zoneOffset(at('2026-10-25T00:59:59Z')), zoneOffset(at('2026-10-25T01:00:00Z'))]).toEqual([3600, 7200, 7200, 3600]);
    expect(fromLocal(at('2026-03-29T12:00:00Z'))).toBe(at('2026-03-29T10:00:00Z'));
    expect(fromLocal(at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-28T11:00:00Z'));
  });
  it('has round times on the axes, also where clocks are set', () => {
    setTimeZone('Europe/Berlin');
    const axis = { start: at('2026-03-28T17:30:00Z'), from: 0, to: 86400 };
    expect(timeTicks(axis, 8).map((t) => t.label)).toEqual(['21:00\nMar 28', '00:00\nMar 29', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00']);
    expect(timeTicks({ ...axis, utc: true }, 3).map((t) => t.t)).toEqual([6.5 * 3600, 18.5 * 3600]);
    setTimeZone('America/New_York');
    const days = { start: at('2026-03-01T00:00:00Z'), from: 0, to: 3 * 86400 };
    expect(timeTicks(days, 4).map((t) => [t.t / 3600, t.label])).toEqual([[5, 'Mar 1'], [29, 'Mar 2'], [53, 'Mar 3']]);
    expect(timeTicks({ ...days, utc: true }, 4).map((t) => [t.t / 3600, t.label])).toEqual([[0, 'Mar 1'], [24, 'Mar 2'], [48, 'Mar 3'], [72, 'Mar 4']]);
  });
});
