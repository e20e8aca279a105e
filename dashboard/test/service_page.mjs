// Looks at the dashboard of a running service in Chromium, as tests/peers/test_dashboard.py asks: {url, tokens, shots, steps} as
// JSON on standard input. Prints what is wrong, a line each; exit code 1 if anything is. shots: a folder for screenshots; steps: of
// service_journey.mjs, with what they need to know; without them, all that is looked at on the pretend cluster.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { items } from './service_items.mjs';
import { journeys } from './service_journey.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WAIT_MS = 60000;
const WILD = '<img src=x onerror="window.injected=1">\u202e<script>window.injected=1</script>&amp;';
const one = JSON.parse(readFileSync(0, 'utf8'));
let failures = 0;

function check(what, truth, more = '') {
  if (truth) return;
  failures++;
  console.log(`FAILED ${what}: ${typeof more === 'string' ? more : JSON.stringify(more)?.slice(0, 1500)}`);
}

/** A page of its own; `expects`: texts of the console that are no complaint. */
async function open(browser, { width = 1280, scheme = 'light', expects = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.complaints = [];
  page.on('console', (m) => { if (!expects.some((e) => m.text().includes(e))) page.complaints.push(m.text()); });
  page.on('pageerror', (e) => page.complaints.push(e.message));
  page.on('dialog', (d) => { page.complaints.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(one.url)) page.complaints.push(`request: ${r.url()}`); });
  return page;
}

async function end(what, page) {
  check(`${what}: nothing on the console, nothing from elsewhere`, page.complaints.length === 0, page.complaints);
  await page.unrouteAll({ behavior: 'ignoreErrors' }); // requests on their way
  await page.context().close();
}

async function signIn(page, role, path = '') {
  await page.goto(one.url + path);
  await page.getByLabel('Token').fill(one.tokens[role]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(`a-${role}, ${role}`).waitFor();
}

async function axe(what, page) {
  // The policy lets no script in, so the debugger's evaluate() brings it.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
  const bad = violations.filter((v) => ['serious', 'critical', 'moderate'].includes(v.impact));
  check(`${what}: axe finds nothing`, bad.length === 0, bad.map((v) => [v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].any[0]?.message]));
}

async function narrow(what, page) {
  const [is, width, wide] = await page.evaluate(() => {
    const w = document.documentElement.clientWidth;
    return [document.documentElement.scrollWidth, w, [...document.querySelectorAll('#page *')].filter((e) => !e.closest('.scroll, .plot, .track') && e.getBoundingClientRect().right > w + 1).map((e) => e.outerHTML.slice(0, 90))];
  });
  check(`${what}: nothing is wider than the window`, is <= width && wide.length === 0, [is, width, wide]);
}

/** Rows of hosts are in the page once it has scrolled to them. */
async function showHosts(page) {
  await page.getByRole('heading', { name: 'Hosts', level: 2 }).scrollIntoViewIfNeeded();
  await page.getByRole('list', { name: 'Hosts, the fullest first' }).evaluate((e) => e.scrollIntoView());
  await page.locator('.host').first().waitFor();
}

async function shot(page, name) {
  if (one.shots) await page.screenshot({ path: `${one.shots}/${name}.png` });
}

async function badToken(browser) {
  const page = await open(browser, { expects: ['401'] });
  await page.goto(one.url);
  await page.getByLabel('Token').fill('ballast_no');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: "the token is not one of this service's" }).waitFor();
  await axe('sign-in', page);
  const ran = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    return [window.injected === true, await fetch('data:text/plain,x').then(() => true, () => false)];
  });
  check('sign-in: nothing else may run or be fetched', !ran[0] && !ran[1], ran);
  await page.context().close(); // with what it complained about just now
}

const card = (page, section) => page.locator('section', { has: page.getByRole('heading', { name: section, exact: true }) }).locator('article');

async function approveByClick(browser) {
  const page = await open(browser, { expects: ['409', '400'] });
  await signIn(page, 'operator');
  await page.getByRole('heading', { name: 'Waiting for a person' }).waitFor();
  await showHosts(page);
  await page.evaluate(() => scrollTo(0, 0));
  if (one.shots) {
    const size = page.viewportSize();
    await page.setViewportSize({ ...size, height: 1640 }); // rows of hosts are in the page where they are on the screen
    await page.locator('.host').last().waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: `${one.shots}/overview.png` });
    await page.setViewportSize(size);
  }
  await page.getByRole('link', { name: 'Recommendations', exact: true }).click();
  const first = card(page, 'Waiting for a decision').first();
  await first.waitFor();
  await shot(page, 'recommendations');
  const title = await first.getAttribute('aria-label');
  await first.getByRole('button', { name: /^Approve/ }).click();
  await page.getByRole('status').filter({ hasText: `Approved: ${title}.` }).waitFor();
  await card(page, 'Ended').filter({ hasText: title }).filter({ hasText: 'done' }).filter({ hasText: 'approved by a-operator' }).filter({ hasText: 'moves from' }).first().waitFor();
  await shot(page, 'ended');
  await page.getByRole('link', { name: 'Hosts', exact: true }).click();
  await page.locator('.said.shown').waitFor({ state: 'detached' }); // it was about the page before
  await end('approve by a click', page);
}

/** What the page shows was decided on by another person just now. */
async function refused(browser) {
  const page = await open(browser, { expects: ['409', '400', 'ERR_FAILED'] });
  await signIn(page, 'operator', '#/recommendations');
  const first = card(page, 'Waiting for a decision').first();
  await first.waitFor();
  await page.route(/\/recommendations\?/, (route) => route.abort()); // the page learns nothing of it
  const title = await first.getAttribute('aria-label');
  const [version] = (await first.locator('small').textContent()).split(',');
  const reply = await fetch(`${one.url}api/v1/clusters/test/recommendations/reject`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${one.tokens.admin}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ids: [version] }),
  });
  check('refused: another person rejects it', reply.ok, await reply.text());
  await first.getByRole('button', { name: `Approve ${title}` }).click();
  const said = page.getByRole('status').filter({ hasText: version.split('.')[0] });
  await said.waitFor();
  check('refused: the sentence of the service', /rejected|no recommendation|not a recommendation/.test(await said.textContent()), await said.textContent());
  console.log(`refused: ${await said.textContent()}`);
  await end('refused', page);
}

/** Everything by the Tab, Space and Enter keys alone. */
async function byKeyboard(browser) {
  const page = await open(browser);
  await page.goto(one.url);
  await page.locator('#token:focus').waitFor();
  await page.keyboard.type(one.tokens.operator);
  await page.keyboard.press('Enter');
  await page.getByText('a-operator, operator').waitFor();
  const tabTo = async (name) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const e = document.activeElement;
        return { name: e.getAttribute('aria-label') ?? e.textContent, outline: getComputedStyle(e).outlineStyle };
      });
      if (!name.test(at.name)) continue;
      check('by keyboard: the focus is seen', at.outline !== 'none', at);
      return true;
    }
    check(`by keyboard: ${name} is reached`, false);
    return false;
  };
  await tabTo(/^Recommendations$/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Recommendations', level: 1 }).waitFor();
  const waits = card(page, 'Waiting for a decision');
  await page.getByRole('heading', { name: 'Waiting for a decision' }).waitFor();
  await waits.first().waitFor();
  await tabTo(/^Reject all/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const title = await waits.first().getAttribute('aria-label');
  await tabTo(/^Choose /);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Reject chosen (1)' }).waitFor();
  await tabTo(/^Reject /);
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: `Rejected: ${title}.` }).waitFor();
  await end('by keyboard', page);
}

async function viewer(browser) {
  const page = await open(browser);
  await signIn(page, 'viewer', '#/recommendations');
  await page.getByRole('heading', { name: 'Ended' }).waitFor();
  await page.locator('article').first().waitFor();
  const buttons = async () => page.locator('button:visible:not(.choices button)').allTextContents(); // those choose a period of charts
  check('viewer: no button changes anything', (await buttons()).every((b) => b === 'Sign out'), await buttons());
  await page.getByRole('link', { name: 'Hosts', exact: true }).click();
  await page.locator('article').first().waitFor();
  check('viewer: no button changes a host', (await buttons()).every((b) => b === 'Sign out'), await buttons());
  for (const at of ['#/overview', '#/hosts/pretend-1', '#/maintenance', '#/power']) {
    await page.evaluate((hash) => { location.hash = hash; }, at);
    await page.locator('main p, main li').first().waitFor();
    await page.waitForTimeout(500);
    check(`viewer: no button changes anything, ${at}`, (await buttons()).every((b) => b === 'Sign out'), await buttons());
  }
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await end('viewer', page);
}

/** Each page, and what stands on it once it is there. */
const PAGES = [
  ['Overview', '#/overview', '.tiles'], ['Recommendations', '#/recommendations', 'article'], ['Hosts', '#/hosts', 'article'], ['VMs', '#/vms', '.vm a'],
  ['Pools', '#/pools', '.vm a'], ['Power and energy', '#/power', 'figure'], ['History', '#/history?since=2026-01-01T00:00:00Z', '.told dd'],
  ['Faults', '#/faults', 'main p'], ['Maintenance of several hosts', '#/maintenance', '.choose'],
  ['app-01', '#/vms/app-01?why=1', 'details'], ['pretend-1', '#/hosts/pretend-1', '.tiles'], ['production', '#/pools/production', '.tiles'],
];

async function looks(browser, width, scheme) {
  const what = `${width} px, ${scheme}`;
  const page = await open(browser, { width, scheme });
  await signIn(page, 'operator');
  for (const [name, at, ready] of PAGES) {
    await page.evaluate((hash) => { location.hash = hash; }, at);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.locator(ready).first().waitFor();
    await narrow(`${name}, ${what}`, page);
    await axe(`${name}, ${what}`, page);
    await shot(page, `${name.replaceAll(' ', '-')}-${width}-${scheme}`);
  }
  const dark = await page.evaluate(() => parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0], 10) < 128);
  check(`${what}: the colours that were asked for`, dark === (scheme === 'dark'));
  await end(what, page);
}

async function maintenance(browser) {
  const page = await open(browser);
  await signIn(page, 'operator', '#/hosts');
  const host = page.locator('article').last();
  await host.waitFor();
  const name = await host.getAttribute('aria-label');
  await host.getByRole('button', { name: `Enter maintenance: ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enter maintenance' }).click();
  await page.locator('article', { hasText: name }).getByText('maintenance', { exact: true }).waitFor();
  await page.getByRole('button', { name: `Exit maintenance: ${name}` }).click();
  await page.locator('article', { hasText: name }).getByText('on', { exact: true }).waitFor();
  await end('maintenance', page);
}

/** Faults with names and sentences from outside: the pretend cluster has none. */
const SINCE = '2026-01-01T00:00:00Z';
const TROUBLES = {
  faults: [{ code: 'rule_violated', vm: 'app-01', host: 'pretend-1', rule: WILD, text: WILD }],
  configuration: [WILD],
  store_error: WILD,
  pass_error: WILD,
  frozen: true,
  frozen_by: WILD,
  logins_paused: [{ account: WILD, next_try: null }],
  mqtt: { url: WILD, connected: false, since: SINCE, error: WILD, sent: 0, unsent: 2, refused: 1, refused_kept: 1, refusal: WILD, commands: [], commands_accepted: 0, commands_refused: 0 },
  alarms: [{ target: WILD, address: WILD, failing_since: SINCE, error: WILD, next_attempt: null, delivered_at: null, waiting: 1, delivered: 0, failed_attempts: 1, given_up: 1 }],
  store: { used_bytes: 5e9, limit_bytes: 4e9, disk_free_bytes: 1e6, warning: WILD },
};

/** The service's own replies, with other names and many hosts. */
async function wildNames(browser) {
  const page = await open(browser, { width: 375 });
  await page.route(/\/(hosts|vms|pools|recommendations|history|events|status|forecast|energy|schedule|summary|explain)(\/[^/]*)?(\/explain)?(\?|$)/, async (route) => {
    if (route.request().url().includes('/events/stream')) return route.continue(); // it does not end
    const reply = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
    const rename = (key, v) => (/^(name|.*_name|text|why)$/.test(key) && typeof v === 'string' ? WILD + v : v);
    const body = JSON.parse(await reply.text(), rename);
    if (Array.isArray(body.status?.faults)) body.status = { ...body.status, ...TROUBLES };
    return route.fulfill({ response: reply, json: body });
  });
  await signIn(page, 'operator');
  for (const [name, at] of PAGES) {
    await page.evaluate((hash) => { location.hash = hash; }, at);
    await page.locator('main').getByText('<img src=x onerror=').first().waitFor().catch(() => check(`wild names, ${name}`, false, 'none is shown'));
    await narrow(`wild names, ${name}`, page);
  }
  check('wild names: are text', await page.evaluate(() => window.injected === undefined && document.querySelectorAll('#page img, #page script').length === 0));
  await end('wild names', page);
}

// --no-sandbox: in a container there may be no user namespaces; the pages are ours
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const tools = { one, check, open, end, signIn, card, shot, axe, narrow, WILD };
const asked = one.steps?.map((name) => journeys(tools)[name]);
const steps = asked ?? [approveByClick, refused, byKeyboard, maintenance, viewer, wildNames, (b) => looks(b, 360, 'light'), (b) => looks(b, 360, 'dark'),
  (b) => looks(b, 1280, 'light'), (b) => looks(b, 1280, 'dark'), ...items(tools), badToken];
try {
  for (const step of steps.filter((f) => !process.env.STEPS || process.env.STEPS.split(',').includes(f.name))) {
    await step(browser).catch((e) => check(step.name || String(step), false, e.message));
    console.log(`looked: ${step.name || String(step)}`);
  }
} finally {
  await browser.close();
}
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
