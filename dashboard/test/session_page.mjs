// Looks at the sign-in of the dashboard in Chromium, as tests/peers/test_http_sessions.py asks: {url, tokens} as JSON on standard
// input. Prints what is wrong, a line each; exit code 1 if anything is.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const one = JSON.parse(readFileSync(0, 'utf8'));
const SESSION = `${one.url}api/v1/session`;
let failures = 0;

function check(what, truth, more = '') {
  if (truth) return;
  failures++;
  console.log(`FAILED ${what}: ${typeof more === 'string' ? more : JSON.stringify(more)?.slice(0, 1500)}`);
}

async function open(context, path = '') {
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  await page.goto(one.url + path);
  return page;
}

/** The third sign-in within a second may have to wait for the next one. */
async function fill(page, role) {
  for (;;) {
    await page.getByLabel('Token').fill(one.tokens[role]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const waits = page.getByRole('alert').filter({ hasText: 'wait a second' });
    const done = page.getByText(`a-${role}, ${role}`);
    await waits.or(done).first().waitFor();
    if (await done.isVisible()) return;
    await page.waitForTimeout(1500);
  }
}

/** As an administrator would end it: the cookie's session is gone. */
async function endSession(context) {
  const { session } = await (await context.request.get(SESSION)).json();
  const reply = await context.request.delete(SESSION, { headers: { 'X-CSRF-Token': session.csrf_token } });
  check('the session is ended', reply.ok(), await reply.text());
}

async function staysSignedIn(browser) {
  const context = await browser.newContext();
  let page = await open(context, '#/recommendations');
  await fill(page, 'operator');
  await page.reload();
  await page.getByText('a-operator, operator').waitFor();
  await page.getByRole('heading', { name: 'Recommendations', level: 1 }).waitFor();
  const [kept, seen] = await page.evaluate(() => [localStorage.length + sessionStorage.length, document.cookie]);
  check('no script sees the cookie, nothing is stored', kept === 0 && seen === '', [kept, seen]);
  const [cookie] = await context.cookies();
  check('the cookie', cookie.httpOnly && cookie.sameSite === 'Strict' && cookie.expires === -1 && cookie.path === '/', cookie);
  const second = await open(context);
  await second.getByText('a-operator, operator').waitFor();
  await second.getByRole('button', { name: 'Sign out' }).click();
  await second.getByLabel('Token').waitFor();
  check('the cookie is gone', (await context.cookies()).length === 0);
  await page.getByRole('dialog').getByLabel('Token').waitFor(); // the other tab, at its next request
  await page.reload();
  await page.getByLabel('Token').waitFor();
  check('signed out, no dialog over a page', (await page.getByRole('dialog').count()) === 0);
  await context.close();
}

async function keepsWhatWasDone(browser) {
  const context = await browser.newContext();
  const page = await open(context, '#/recommendations');
  await fill(page, 'operator');
  const first = page.getByRole('checkbox', { name: /^Choose / }).first();
  await first.check();
  const name = await first.getAttribute('aria-label');
  await endSession(context);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Your session has ended.').waitFor();
  check('what was shown is hidden', !(await page.getByRole('heading', { name: 'Recommendations', level: 1 }).isVisible()));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  // Chromium closes a dialog at the second Escape, and the page opens it again
  check('the dialog stays', await dialog.waitFor({ timeout: 10000 }).then(() => true, () => false));
  let asked = 0;
  page.on('request', (r) => { if (r.url().includes('/clusters/')) asked++; });
  await page.waitForTimeout(7000);
  check('nothing is asked meanwhile', asked === 0, String(asked));
  await fill(page, 'operator');
  await dialog.waitFor({ state: 'hidden' });
  check('what was chosen is still chosen', await first.isChecked() && (await first.getAttribute('aria-label')) === name, name);
  await page.getByRole('button', { name: /^Reject chosen \(1\)/ }).click();
  await page.getByRole('status').filter({ hasText: /^Rejected/ }).waitFor();
  // the events come by cookie
  const stream = page.waitForResponse((r) => r.url().includes('/events/stream'));
  await page.reload();
  check('events come by cookie', (await stream).status() === 200);
  // another user
  await endSession(context);
  await dialog.getByLabel('Token').waitFor();
  await fill(page, 'viewer');
  await page.getByRole('heading', { name: 'Recommendations', level: 1 }).waitFor();
  check('a viewer has no button that changes something', (await page.getByRole('button', { name: /^(Approve|Reject)/ }).count()) === 0);
  await context.close();
}

/** A sign-in in one tab gives the browser another session: the other tab goes on with it. */
async function twoTabs(browser) {
  const context = await browser.newContext();
  const page = await open(context, '#/overview');
  await fill(page, 'operator');
  const token = one.tokens.operator;
  const reply = await context.request.post(SESSION, { data: { token } });
  check('a second sign-in', reply.ok(), await reply.text());
  await page.getByRole('link', { name: 'Hosts', exact: true }).click();
  const host = page.locator('article').last();
  await host.getByRole('button', { name: /^Enter maintenance/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enter maintenance' }).click();
  await page.getByRole('button', { name: /^Exit maintenance/ }).click();
  await page.getByRole('button', { name: /^Exit maintenance/ }).waitFor({ state: 'hidden' });
  await context.close();
}

/** A page on another port of the host: the browser counts it as the same site, and sends the cookie. */
async function otherOrigin(browser) {
  const context = await browser.newContext();
  const page = await open(context);
  await fill(page, 'operator');
  const server = createServer((_, reply) => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end(`<a href="${one.url}">link</a><form method="post" action="${one.url}api/v1/clusters/test/pause"><button>go</button></form>`);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const evil = await context.newPage();
  await evil.goto(`http://127.0.0.1:${server.address().port}/`);
  const got = await evil.evaluate(async ([session, pause]) => {
    const look = async (url, init) => {
      try {
        const r = await fetch(url, { credentials: 'include', ...init });
        return [r.type, r.status, await r.text()];
      } catch (e) {
        return [String(e)];
      }
    };
    return [await look(session), await look(session, { mode: 'no-cors' }), await look(pause, { method: 'POST', mode: 'no-cors' }),
      await look(pause, { method: 'POST', headers: { 'X-CSRF-Token': 'x' } })];
  }, [SESSION, `${one.url}api/v1/clusters/test/pause`]);
  check('another page reads nothing', got.every((g) => !JSON.stringify(g).includes('csrf')), got);
  const [reply] = await Promise.all([evil.waitForResponse((r) => r.url().endsWith('/pause')), evil.getByRole('button').click()]);
  check('its form is refused', reply.status() === 403, String(reply.status()));
  const { status } = await (await context.request.get(`${one.url}api/v1/clusters/test/status`)).json();
  check('nothing was paused', status.frozen === false, status.frozen);
  await evil.goto(`http://127.0.0.1:${server.address().port}/`);
  await evil.getByRole('link').click();
  await evil.getByText('a-operator, operator').waitFor();
  server.close();
  await context.close();
}

// --no-sandbox: in a container there may be no user namespaces; the pages are ours
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  for (const step of [staysSignedIn, keepsWhatWasDone, twoTabs, otherOrigin]) {
    await step(browser).catch((e) => check(step.name, false, e.message));
    console.log(`looked: ${step.name}`);
  }
} finally {
  await browser.close();
}
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
