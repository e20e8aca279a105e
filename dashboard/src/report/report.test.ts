import { expect, it } from 'vitest';
import { FORMAT, parseReport } from './data';
import { percentFrom } from './plots';

it('says what it cannot show', () => {
  expect(parseReport(' ')).toMatch(/holds no simulation/);
  expect(parseReport('{"format":"ballast-report/9"}')).toMatch(/ballast-report\/9/);
  expect(parseReport(JSON.stringify({ format: FORMAT }))).toEqual({ format: FORMAT });
});

it('percentages begin where their quarters are round', () => {
  expect([100, 96, 95, 85, 61, 21, 3, Infinity].map(percentFrom)).toEqual([96, 96, 92, 80, 60, 20, 0, 96]);
});
