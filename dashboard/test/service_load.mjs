// Measures what an update costs a page of a cluster of 1,000 hosts and 30,000 VMs, as tests/peers/test_dashboard.py asks: {url, tokens,
// update_ms, hosts, vms} as JSON on standard input. Each line on standard output that begins with "change" asks for new figures.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const SAMPLE_MS = 100;
const AFTER_MS = 1000; // after the last new text nothing more is drawn for it
const SETTLE_MS = 3000; // after a pass; what its events cause has begun by then
const UPDATES = 3; // at most; one that is in time is enough, for a busy machine makes some slower
const TRIES = 200;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const one = JSON.parse((await lines.next()).value);
let failures = 0;

function check(what, truth, more = '') {
  if (truth) return;
  failures++;
  console.log(`FAILED ${what}: ${more}`);
}

// Address, a row, rows in the page at most (0: any).
const PAGES = [
  ['#/overview', '.host', 100], ['#/recommendations', 'article', 100], ['#/hosts', 'article', 100], ['#/vms', '.vm a', 300], ['#/vms?order=score', '.vm a', 300],
  ['#/power', '.tiles', 0], ['#/history', '.fields', 0], ['#/faults', 'main p, .fault', 0], [`#/hosts/${one.host}`, '.tiles', 0], [`#/vms/${one.vm}`, '.tiles', 0],
  ['#/pools', 'main p, .vm', 0],
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
page.setDefaultTimeout(120000);
const fresh = []; // when new texts came
page.on('response', (r) => { if (r.status() === 200 && /\/(hosts|vms|pools|recommendations)([?/]|$)/.test(r.url())) fresh.push(Date.now()); });
const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable', { timeDomain: 'threadTicks' }); // processor time: a busy machine does not count
const used = async () => 1000 * (await devtools.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;

/** Processor time of the page from shortly before the first new text to AFTER_MS after the last one. */
async function update() {
  const samples = [[Date.now(), await used()]];
  fresh.length = 0;
  let changed = Infinity;
  console.log('change');
  void lines.next().then(() => { changed = Date.now(); });
  while (Date.now() - changed < SETTLE_MS || changed === Infinity || Date.now() - (fresh[fresh.length - 1] ?? 0) < AFTER_MS) {
    await page.waitForTimeout(SAMPLE_MS);
    samples.push([Date.now(), await used()]);
  }
  const from = (fresh[0] ?? changed) - 2 * SAMPLE_MS; // a page without hosts and VMs: what it does when a pass has ended
  const before = samples.filter(([t]) => t <= from).pop() ?? samples[0];
  const to = (fresh[fresh.length - 1] ?? changed) + AFTER_MS;
  const after = samples.find(([t]) => t >= to) ?? samples[samples.length - 1];
  return after[1] - before[1];
}

await page.goto(one.url);
await page.getByLabel('Token').fill(one.tokens.viewer);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByText('a-viewer, viewer').waitFor();
for (const [at, row, most] of PAGES) {
  await page.evaluate((hash) => { location.hash = hash; }, at);
  for (let i = 0; i < TRIES && (await page.locator(row).count()) === 0; i++) {
    await page.evaluate(() => [...document.querySelectorAll('.list')].pop()?.scrollIntoView()); // rows are in the page where it is scrolled to
    await page.waitForTimeout(5 * SAMPLE_MS);
  }
  await page.waitForTimeout(3000);
  const updates = [];
  while (updates.length < UPDATES && !updates.some((v) => v <= one.update_ms)) updates.push(await update());
  const rows = await page.locator(row).count();
  console.log(`${at} of ${one.hosts} hosts and ${one.vms} VMs: ${updates.map((v) => Math.round(v)).join(', ')} ms of processor time an update, polls and clock of over a second included; ${rows} rows in the page`);
  check(`${at}: an update is in time`, Math.min(...updates) <= one.update_ms, updates.join(', '));
  check(`${at}: only rows on the screen are in the page`, most === 0 || rows <= most, String(rows));
}
await page.evaluate(() => { location.hash = '#/vms'; });
await page.locator('.vm a').first().waitFor();
await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
await page.locator('li[aria-posinset="15000"] a').first().waitFor().catch(() => check('VMs: rows come as it scrolls', false));
await page.getByLabel('Name, host or state').fill(one.vm_name);
await page.locator('.vm', { hasText: one.vm_name }).first().waitFor();
await browser.close();
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
process.stdin.destroy(); // it is open for as long as the test reads
