// Looks at the status page in Chromium without JavaScript, as tests/peers/test_status_page.py asks: {url, tokens, shots} as JSON on
// standard input. Prints what is wrong, a line each; exit code 1 if anything is. shots: a folder for screenshots.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const one = JSON.parse(readFileSync(0, 'utf8'));
let failures = 0;

function check(what, truth, more = '') {
  if (truth) return;
  failures++;
  console.log(`FAILED ${what}: ${typeof more === 'string' ? more : JSON.stringify(more)?.slice(0, 1500)}`);
}

async function signIn(page) {
  for (;;) {
    await page.goto(`${one.url}status`);
    await page.getByLabel('Token').fill(one.tokens.viewer);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForLoadState();
    if (await page.getByText('a-viewer (token), viewer').isVisible()) return;
    check('the reason is too many sign-ins', await page.getByText('wait a second').isVisible(), await page.locator('body').textContent());
    await page.waitForTimeout(1500);
  }
}

async function withoutScripts(browser) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  page.on('console', (m) => { if (!m.text().includes('401')) check('the console', false, m.text()); });
  await page.goto(`${one.url}status`);
  await page.getByLabel('Token').fill('ballast_no');
  await page.keyboard.press('Enter');
  await page.getByText("the token is not one of this service's").waitFor();
  await signIn(page);
  await page.getByRole('heading', { name: 'Waiting for a person' }).waitFor();
  check('a table of hosts', (await page.getByRole('row').count()) > 3);
  const before = await page.locator('text=/^As of/').textContent();
  await page.goto(`${one.url}status?refresh=5`);
  await page.waitForEvent('load', { timeout: 30000 });
  check('it is read anew', (await page.locator('text=/^As of/').textContent()) !== before);
  await page.goto(`${one.url}status`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  check('the cookie is gone', (await context.cookies()).length === 0);
  await context.close();
}

async function looks(browser, width, scheme) {
  const what = `${width} px, ${scheme}`;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const axe = async (name) => {
    await page.evaluate(AXE); // the debugger's: the policy lets no script in
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
    const bad = violations.filter((v) => ['serious', 'critical', 'moderate'].includes(v.impact));
    check(`${name}, ${what}: axe finds nothing`, bad.length === 0, bad.map((v) => [v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].any[0]?.message]));
    const [is, wide] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    check(`${name}, ${what}: nothing is wider than the window`, is <= wide, [is, wide]);
  };
  await page.goto(`${one.url}status`);
  await axe('sign-in');
  await signIn(page);
  await page.goto(`${one.url}status?refresh=0`); // WCAG 2.2.1: the page that is read anew has a link that stops it
  await axe('status');
  const dark = await page.evaluate(() => parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0], 10) < 128);
  check(`${what}: the colours that were asked for`, dark === (scheme === 'dark'));
  if (one.shots) await page.screenshot({ path: `${one.shots}/status-${width}-${scheme}.png`, fullPage: true });
  await context.close();
}

// --no-sandbox: in a container there may be no user namespaces; the pages are ours
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const steps = [withoutScripts, (b) => looks(b, 375, 'light'), (b) => looks(b, 375, 'dark'), (b) => looks(b, 1280, 'light'), (b) => looks(b, 1280, 'dark')];
try {
  for (const step of steps) {
    await step(browser).catch((e) => check(step.name || String(step), false, e.message));
    console.log(`looked: ${step.name || String(step)}`);
  }
} finally {
  await browser.close();
}
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
