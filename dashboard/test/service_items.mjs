// What an admin does on the pages of VMs, hosts, power and history; looked at by service_page.mjs, which gives its tools.

const POLL_LEAST_MS = 1500; // the shortest is 2 s; what gathers events takes 1 s
const LIVE_MS = 20000;

/** The steps, in their order. */
export function items({ one, check, open, end, signIn, card, shot, axe }) {
  const at = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);
  const title = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const said = (page, text) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const api = (role, path, body) =>
    fetch(`${one.url}api/v1/clusters/test/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${one.tokens[role]}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  /** By links only: from a VM to its host and its pool, back, and loaded anew. */
  async function addresses(browser) {
    const page = await open(browser, { expects: ['404', '400'] }); // of a VM that is not there
    await signIn(page, 'viewer', '#/vms?find=app-02');
    await page.getByRole('link', { name: 'app-02', exact: true }).click();
    await title(page, 'app-02');
    const host = await page.locator('main dd a').first().textContent();
    await page.getByRole('link', { name: host, exact: true }).first().click();
    await title(page, host);
    await page.locator('.tiles').waitFor();
    await page.goBack();
    await title(page, 'app-02');
    check('addresses: the focus is on the new page', await page.evaluate(() => document.activeElement?.tagName) === 'MAIN');
    await page.goBack();
    await title(page, 'VMs');
    check('addresses: the search is kept', await page.getByLabel('Name, host or state').inputValue() === 'app-02');
    await page.goForward();
    await title(page, 'app-02');
    const before = await page.evaluate(() => location.href);
    check('addresses: a bookmark names the VM', before.endsWith('#/vms/app-02'), before);
    await at(page, '#/vms/none');
    await page.getByText('"none": there is none of this id or name').waitFor();
    await at(page, '#/nowhere');
    await title(page, 'No such page');
    await end('addresses', page);
  }

  /** From a recommendation to the hosts that were considered. */
  async function whyNotElsewhere(browser) {
    const page = await open(browser);
    await api('operator', 'passes', {});
    await signIn(page, 'viewer', '#/recommendations');
    const first = card(page, 'Waiting for a decision').first();
    await first.getByRole('link', { name: /^Why not elsewhere/ }).click();
    await page.getByText('Recommended', { exact: true }).waitFor();
    await page.getByText('The VM runs here', { exact: true }).waitFor();
    const groups = await page.locator('details.card').count();
    check('why: other hosts are told too', groups >= 2, String(groups));
    await shot(page, 'vm');
    await first.waitFor({ state: 'detached' });
    const vm = await page.getByRole('heading', { level: 1 }).textContent();
    await at(page, `#/vms/${vm}`);
    await page.getByText('Recommended', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: `Why not elsewhere: ${vm}` }).click(); // a link of the VM's own page
    await page.getByText('Recommended', { exact: true }).waitFor();
    await end('why not elsewhere', page);
  }

  /** What one person has asked for (four_eyes) is seen by the other. */
  async function secondPerson(browser) {
    const page = await open(browser);
    await page.route(/\/status(\?|$)/, async (route) => {
      const reply = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
      const body = await reply.json();
      const until = new Date(Date.now() + 600e3).toISOString();
      body.status.first_requests = [{ action: 'maintenance', id: null, text: 'take host pretend-2 out of service', by: 'ann (token)', since: until, until }];
      return route.fulfill({ response: reply, json: body });
    });
    await signIn(page, 'operator');
    for (const hash of ['#/overview', '#/hosts']) {
      await at(page, hash);
      await page.getByText(/^ann \(token\) asked to take host pretend-2 out of service\. This takes two people: .* in (9|10) min/).waitFor();
    }
    await end('second person', page);
  }

  async function pause(browser) {
    const page = await open(browser);
    await signIn(page, 'operator');
    const button = page.getByRole('button', { name: 'Pause' });
    await button.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    check('pause: the focus returns to the button', await button.evaluate((e) => e === document.activeElement));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (let i = 0; i < 6; i++) await page.keyboard.press('Tab');
    check('pause: the dialog keeps the focus', await page.evaluate(() => document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement)));
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Actions are paused by a-operator').waitFor();
    await page.getByText('Paused since').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await end('pause', page);
  }

  /** On a host's own page, and the service's sentence where it refuses. */
  async function standby(browser) {
    const page = await open(browser, { expects: ['409', '400'] });
    await signIn(page, 'operator', '#/hosts/pretend-3');
    await page.getByRole('button', { name: 'Put to standby: pretend-3' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Put to standby' }).click();
    await page.locator('.terms').getByText('standby', { exact: true }).waitFor();
    await at(page, '#/power');
    const asleep = page.locator('article', { hasText: 'pretend-3' });
    await asleep.getByText('by Ballast').waitFor();
    await shot(page, 'power');
    await axe('power with a host asleep', page);
    await asleep.getByRole('button', { name: 'Wake: pretend-3' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Wake' }).click();
    await asleep.waitFor({ state: 'detached' });
    await at(page, '#/hosts/pretend-3');
    await page.locator('.terms').getByText('on', { exact: true }).waitFor();
    const before = page.getByRole('heading', { name: 'Before' });
    await before.waitFor();
    await page.locator('article', { hasText: 'Power on: pretend-3' }).filter({ hasText: 'done' }).waitFor();
    await end('standby and wake', page);
  }

  async function roll(browser) {
    const page = await open(browser, { expects: ['409', '400'] });
    await signIn(page, 'operator', '#/maintenance');
    await page.getByRole('checkbox', { name: /pretend-4/ }).check();
    await page.getByRole('button', { name: 'Begin with 1 host' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Begin' }).click();
    await page.locator('.fault', { hasText: 'pretend-4' }).getByText('handed over', { exact: true }).waitFor();
    await at(page, '#/hosts/pretend-4');
    await page.getByRole('button', { name: 'Exit maintenance: pretend-4' }).click();
    await at(page, '#/maintenance');
    await page.getByText('1 of 1 host back in service.').waitFor();
    await end('maintenance of several hosts', page);
  }

  /** An event brings what is new where no poll comes; where no event comes, polls do. */
  async function live(browser) {
    const page = await open(browser);
    await page.addInitScript((least_ms) => {
      const set = window.setTimeout;
      window.setTimeout = (f, ms, ...more) => set(f, ms >= least_ms ? 2 ** 31 - 1 : ms, ...more);
    }, POLL_LEAST_MS);
    const stream = page.waitForResponse((r) => r.url().includes('/events/stream'));
    await signIn(page, 'viewer', '#/overview');
    await stream;
    await page.locator('.tiles').waitFor();
    await page.waitForTimeout(2000); // what was read at the begin has been read
    await api('operator', 'pause', {});
    await page.getByText('Paused since').waitFor({ timeout: LIVE_MS }).catch(() => check('live: an event brings what is new', false));
    await end('live by events', page);
    const polling = await open(browser, { expects: ['ERR_FAILED'] });
    await polling.route(/\/events\/stream/, (route) => route.abort());
    await signIn(polling, 'viewer', '#/overview');
    await polling.getByText('Paused since').waitFor();
    await api('operator', 'resume', {});
    await polling.getByText('Paused since').waitFor({ state: 'detached', timeout: LIVE_MS }).catch(() => check('live: without events polls bring what is new', false));
    await end('live by polls', polling);
  }

  /** Demand, entitlement, delivered and score of a VM, a host and a pool, with figures. */
  async function courses(browser) {
    const page = await open(browser);
    await signIn(page, 'viewer');
    for (const [hash, charts] of [['#/vms/app-01', ['CPU, GHz', 'Memory, GiB', 'Score, %']], ['#/hosts/pretend-1', ['CPU, GHz', 'Memory, GiB', 'Score, %']], ['#/pools/production', ['CPU, GHz', 'Memory, GiB', 'Score, %']],
      ['#/overview', ['Imbalance of the cluster', 'VMs that got less than was due']]]) {
      await at(page, hash);
      for (const name of charts) await points(page, `${hash}, ${name}`, page.locator('figure', { has: page.getByRole('heading', { name, exact: true }) }));
    }
    await end('courses', page);
  }

  /** A chart has curves with values, drawn and as a table. */
  async function points(page, what, figure) {
    await figure.scrollIntoViewIfNeeded();
    await figure.getByText('As a table').click();
    await figure.locator('tbody td').first().waitFor();
    const cells = await figure.locator('tbody td').allTextContents();
    check(`${what}: the table has values`, cells.filter((c) => /\d/.test(c)).length >= (await figure.locator('thead th').count()) - 1, cells.slice(-10));
    const drawn = await figure.locator('canvas').evaluate((c) => {
      const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) colours.add(data[i] >> 5 << 10 | data[i + 1] >> 5 << 5 | data[i + 2] >> 5);
      return colours.size;
    });
    check(`${what}: something is drawn in colour`, drawn >= 1, String(drawn));
  }

  /** What happened last night: two clicks from the first page. */
  async function history(browser) {
    const page = await open(browser, { expects: ['400', '404'] });
    await signIn(page, 'viewer');
    await page.getByRole('link', { name: 'What happened last night' }).click();
    await page.getByRole('heading', { name: 'In short' }).waitFor();
    await page.locator('.told').getByText('Moves').waitFor();
    await at(page, '#/history');
    await page.getByRole('heading', { name: 'In short' }).waitFor({ state: 'detached' });
    await page.locator('article').first().waitFor();
    await page.getByLabel('State').selectOption('rejected');
    await page.locator('article .state', { hasText: 'rejected' }).first().waitFor();
    const states = await page.locator('article .state').allTextContents();
    check('history: by state', states.length > 0 && states.every((s) => s === 'rejected'), states);
    await page.getByLabel('Approved or ended by').fill('a-admin');
    await page.keyboard.press('Enter');
    await page.getByText(/by a-admin/).first().waitFor();
    await page.getByLabel('Approved or ended by').fill('no-such-person');
    await page.keyboard.press('Enter');
    await page.getByText('No action fits.').waitFor();
    await at(page, '#/history?what=events');
    await page.locator('.event').first().waitFor();
    const n = await page.locator('.event', { hasText: 'paused' }).count();
    await api('operator', 'pause', {});
    await page.locator('.event', { hasText: 'paused' }).nth(n).waitFor(); // by itself
    await api('operator', 'resume', {});
    await page.getByLabel('Host').fill('no-such-host');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'no-such-host' }).waitFor();
    await end('history', page);
  }

  /** The service goes away, is overloaded, and comes back: said, what is shown is marked, and it mends itself. */
  async function away(browser) {
    const page = await open(browser, { expects: ['503', 'ERR_'] });
    await signIn(page, 'viewer', '#/hosts');
    await page.locator('article').first().waitFor();
    for (const answer of [(r) => r.abort(), (r) => r.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail": "The service is overloaded."}' })]) {
      await page.route(/\/api\//, answer);
      await page.getByRole('alert').filter({ hasText: 'The page tries again by itself.' }).waitFor();
      check('away: what is shown stays, and is marked', await page.locator('article').count() > 0 && await page.evaluate(() => document.body.classList.contains('old')));
      await page.unroute(/\/api\//);
      await page.getByRole('alert').waitFor({ state: 'detached' });
      check('away: it mends itself', await page.evaluate(() => !document.body.classList.contains('old')));
    }
    await end('away', page);
  }

  return [addresses, whyNotElsewhere, secondPerson, pause, live, standby, roll, history, courses, away];
}
