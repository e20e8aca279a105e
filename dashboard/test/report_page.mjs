// Looks at report pages in Chromium, as tests/peers/test_report_page.py asks: a list of {what, page, plots, wild, ready_ms} as JSON
// on standard input. Prints what is wrong, a line each; exit code 1 if anything is.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WINDOWS = [
  { width: 375, scheme: 'light' },
  { width: 375, scheme: 'dark' },
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
];
const READING = /^2026-01-0\d \d\d:\d\d: .*\S (-|at least [\d.]+|[\d.,]+( \S+)?|on)$/;
let failures = 0;

function check(what, truth, more = '') {
  if (truth) return;
  failures++;
  console.log(`FAILED ${what}: ${typeof more === 'string' ? more : JSON.stringify(more).slice(0, 1500)}`);
}

/** What the page is like once it is drawn; runs in the page. */
function look() {
  const width = document.documentElement.clientWidth;
  const figures = [...document.querySelectorAll('figure')];
  const rgb = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  return {
    dark: rgb(getComputedStyle(document.body).backgroundColor)[0] < 128,
    page: document.documentElement.scrollWidth,
    width,
    wide: [...document.querySelectorAll('main *')]
      .filter((e) => !e.closest('.scroll, .plot') && e.getBoundingClientRect().right > width + 1)
      .map((e) => e.outerHTML.slice(0, 90)),
    plots: figures.length,
    untold: figures
      .filter((f) => !f.querySelector('[role=img]')?.getAttribute('aria-label') || !f.querySelector('.reading')?.textContent)
      .map((f) => f.textContent.slice(0, 60)),
    // Of each drawing: how many colours it has.
    colours: figures.map((f) => {
      const canvas = f.querySelector('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }),
    title: document.title,
  };
}

/** Opens all tables; what each plot's holds. */
function openTables() {
  for (const e of document.querySelectorAll('details')) e.open = true;
  return new Promise((resolve) => {
    const done = () => {
      const rows = [...document.querySelectorAll('figure')].map((f) => f.querySelectorAll('tbody tr').length);
      if (rows.some((n) => n === 0)) setTimeout(done, 20);
      else resolve({ rows, page: document.documentElement.scrollWidth, width: document.documentElement.clientWidth });
    };
    done();
  });
}

async function readPlots(what, page) {
  const plots = page.locator('.plot');
  const figures = page.locator('figure');
  for (let i = 0; i < (await plots.count()); i++) {
    const reading = page.locator('.reading').nth(i);
    const words = await reading.textContent();
    const { height } = await figures.nth(i).boundingBox();
    await plots.nth(i).scrollIntoViewIfNeeded();
    const box = await plots.nth(i).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.mouse.move(box.x + box.width / 2 + 2, box.y + 40);
    await reading.evaluate((e, before) => new Promise((r) => { const t = () => (e.textContent !== before ? r() : setTimeout(t, 10)); t(); setTimeout(r, 5000); }), words);
    const under = await reading.textContent();
    const after = await figures.nth(i).boundingBox();
    check(`${what}: what is below stays where it is`, after.height >= height - 1, [height, after.height]);
    check(`${what}: a time and a value under the pointer`, READING.test(under), under);
    await plots.nth(i).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await reading.evaluate((e, before) => new Promise((r) => { const t = () => (e.textContent !== before ? r() : setTimeout(t, 10)); t(); setTimeout(r, 5000); }), under);
    const next = await reading.textContent();
    check(`${what}: the arrow keys move on`, READING.test(next) && next !== under, next);
    const outline = await plots.nth(i).evaluate((e) => getComputedStyle(e).outlineStyle);
    check(`${what}: the focus is seen`, outline !== 'none', outline);
    await page.mouse.move(1, 1);
    await page.evaluate(() => document.activeElement.blur());
    await reading.evaluate((e, before) => new Promise((r) => { const t = () => (e.textContent === before ? r() : setTimeout(t, 10)); t(); setTimeout(r, 5000); }), words);
    check(`${what}: and back to the sentence`, (await reading.textContent()) === words);
  }
}

/** The Tab key reaches every plot, table and fold, and shows where it is. */
async function tab(what, page) {
  const seen = new Set();
  const count = () => page.evaluate(() => document.querySelectorAll('.plot, .scroll, summary').length);
  const n = await count();
  for (let i = 0; i < 2 * n + 4 && seen.size < n; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      return { index: [...document.querySelectorAll('.plot, .scroll, summary')].indexOf(e), outline: getComputedStyle(e).outlineStyle };
    });
    if (at.index < 0) continue; // the browser's own controls, or the page
    check(`${what}: the focus is seen by keyboard`, at.outline !== 'none', at);
    seen.add(at.index);
  }
  check(`${what}: all is reached by keyboard`, seen.size === n, `${seen.size} of ${n}`);
}

async function axe(what, page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
  const bad = violations.filter((v) => ['serious', 'critical', 'moderate'].includes(v.impact));
  check(`${what}: axe finds nothing`, bad.length === 0, bad.map((v) => [v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 200)]));
}

/** The page's own policy refuses what is not its own. */
async function refused(what, page) {
  const got = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    const fetched = await fetch('data:text/plain,x').then(() => true, () => false);
    return [window.injected === true, fetched];
  });
  check(`${what}: nothing else may run or be fetched`, !got[0] && !got[1], got);
}

async function lookAt(browser, one, { width, scheme }) {
  const what = `${one.what}, ${width} px, ${scheme}`;
  const url = pathToFileURL(one.page).href;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, hasTouch: false });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (m) => complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.message));
  page.on('dialog', (d) => { complaints.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => { if (r.url() !== url) complaints.push(`request: ${r.url()}`); });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' }); // processor time: a busy machine does not count
  await page.goto(url);
  await page.waitForFunction((n) => document.querySelectorAll('figure canvas').length >= n, one.plots);
  if (one.ready_ms) {
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0))));
    const { metrics } = await session.send('Performance.getMetrics');
    const ms = 1000 * metrics.find((m) => m.name === 'TaskDuration').value;
    console.log(`${what}: drawn in ${Math.round(ms)} ms of processor time`);
    check(`${what}: is drawn in time`, ms > 0 && ms <= one.ready_ms, `${ms} ms`);
  }
  const seen = await page.evaluate(look);
  check(`${what}: the colours that were asked for`, seen.dark === (scheme === 'dark'));
  check(`${what}: nothing is wider than the window`, seen.page <= seen.width && seen.wide.length === 0, seen.wide);
  check(`${what}: all plots`, seen.plots === one.plots, String(seen.plots));
  check(`${what}: each plot is told in words`, seen.untold.length === 0, seen.untold);
  check(`${what}: each plot is drawn`, seen.colours.every((n) => n >= 4), seen.colours);
  check(`${what}: the title`, seen.title.startsWith(one.title), seen.title);
  if (one.what !== 'names that are no text' && (scheme === 'light') === (width === 375)) await readPlots(what, page);
  const tables = await page.evaluate(openTables);
  check(`${what}: each plot has its table`, tables.rows.every((n) => n >= one.rows), tables.rows);
  check(`${what}: tables do not widen the page`, tables.page <= tables.width, tables);
  if (!one.ready_ms) await axe(what, page);
  if (width === 1280 && scheme === 'light') {
    await tab(what, page);
    const pixels = () => page.evaluate(() => document.querySelector('figure canvas').toDataURL());
    const light = await pixels();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction((before) => document.querySelector('figure canvas').toDataURL() !== before, light);
  }
  check(`${what}: nothing on the console`, complaints.length === 0, complaints);
  await refused(what, page);
  await context.close();
}

const cases = JSON.parse(readFileSync(0, 'utf8'));
// --no-sandbox: in a container there may be no user namespaces; the pages are ours
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  for (const one of cases)
    for (const window of WINDOWS.filter((w) => !one.windows || one.windows.includes(w.width))) await lookAt(browser, one, window);
} finally {
  await browser.close();
}
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
