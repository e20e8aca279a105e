// What people do from beginning to end, by what is on the screen: decide on several recommendations and see them end; as a new user, who
// knows no address, find out what happened last night and why a VM stays. On clusters of their own, with names as an enemy gives them.
// Looked at by service_page.mjs, which gives its tools.

/** The steps, by name. */
export function journeys({ one, check, open, end, signIn, card, shot, axe, narrow, WILD }) {
  const title = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const follow = (page, name) => page.getByRole('link', { name, exact: true }).first().click();
  const get = async (path) => (await fetch(`${one.url}api/v1/clusters/test/${path}`, { headers: { Authorization: `Bearer ${one.tokens.viewer}` } })).json();

  /** Waits until each of the actions stands below "Ended" as done, approved by the operator. */
  async function allEnd(page, titles) {
    for (const t of titles) {
      const ended = card(page, 'Ended').filter({ hasText: t }).filter({ hasText: 'approved by a-operator' }).filter({ has: page.locator('.state.done') });
      for (let i = 0; i < 60 && (await ended.count()) === 0; i++) {
        await page.getByRole('heading', { name: 'Ended', exact: true }).evaluate((e) => e.scrollIntoView()); // rows are in the page where it is scrolled to
        await page.waitForTimeout(500);
      }
      check('it ends as done', (await ended.count()) > 0, t);
    }
    await page.evaluate(() => scrollTo(0, 0));
  }

  /** Two of the recommendations, then all the others. */
  async function someAndAll(browser) {
    const page = await open(browser);
    await signIn(page, 'operator', '#/recommendations');
    const waits = card(page, 'Waiting for a decision');
    await waits.nth(3).waitFor();
    const two = [];
    for (const i of [0, 2]) {
      two.push(await waits.nth(i).getAttribute('aria-label'));
      await waits.nth(i).getByRole('checkbox').check();
    }
    const before = (await get('recommendations?limit=1000')).recommendations.filter((a) => a.state === 'recommended').length;
    await page.getByRole('button', { name: 'Approve chosen (2)' }).click();
    await page.getByRole('status').filter({ hasText: 'Approved: 2 recommendations.' }).waitFor();
    await allEnd(page, two);
    const history = (await get('history?state=done')).history;
    check('approve some: these two and no others were carried out', history.length === 2 && new Set(history.map((a) => a.vm)).size === 2, history.map((a) => a.text));
    const left = await page.getByRole('button', { name: /^Approve all/ }).textContent();
    check('approve some: the others wait', left === `Approve all (${before - 2})`, [left, before]);
    const others = (await get('recommendations?limit=1000')).recommendations.filter((a) => a.state === 'recommended').map((a) => a.vm);
    await page.getByRole('button', { name: /^Approve all/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: `Approve ${before - 2}` }).click();
    await page.getByText('No recommendation waits for a decision.').waitFor();
    await page.getByText('Nothing is in progress.').waitFor();
    const done = (await get('history?state=done')).history;
    check('approve all: all were carried out', done.length === before && others.every((vm) => done.some((a) => a.vm === vm && a.approved_by.startsWith('a-operator'))), [before, done.length, others]);
    const vms = (await get('vms?limit=1000')).vms;
    check('approve all: the VMs are where they were to go', done.every((a) => vms.find((v) => v.id === a.vm)?.host === a.to), done.map((a) => [a.vm, a.to]));
    await end('approve some and all', page);
  }

  /** Whatever the inventory calls hosts, VMs, pools and rules: it is text on each page. */
  async function hostileNames(browser) {
    const page = await open(browser, { width: 375 });
    await signIn(page, 'operator');
    const { vm, host, pool } = one.hostile;
    for (const hash of ['#/overview', '#/recommendations', '#/hosts', '#/vms', '#/pools', '#/power', '#/history?what=events', '#/faults', '#/maintenance', `#/vms/${vm}?why=1`, `#/hosts/${host}`, `#/pools/${pool}`]) {
      await page.evaluate((h) => { location.hash = h; }, hash);
      await page.locator('main').getByText('<img src=x onerror=').first().waitFor().catch(() => check(`hostile names, ${hash}`, false, 'none is shown'));
      await narrow(`hostile names, ${hash}`, page);
    }
    check('hostile names: are text', await page.evaluate(() => window.injected === undefined && document.querySelectorAll('#page img, #page script').length === 0));
    await end('hostile names', page);
  }

  /** A broker that is away, and an alarm that fails, are faults; so is what the pass found. */
  async function troubled(browser) {
    for (const scheme of ['light', 'dark']) {
      const page = await open(browser, { scheme });
      await signIn(page, 'viewer');
      await page.getByRole('alert').filter({ hasText: 'is not connected' }).getByRole('link', { name: 'What to do' }).click();
      await title(page, 'Faults');
      await page.getByRole('alert').filter({ hasText: 'Alarms do not reach nobody' }).waitFor();
      await page.getByRole('alert').filter({ hasText: 'The MQTT broker mqtt://' }).waitFor();
      await page.getByText('ballast alarm test nobody').waitFor();
      check('faults: not all is well', (await page.getByText('Nothing is wrong').count()) === 0);
      await page.getByText(/of at most 4 GiB \([\d.]+ %\); .* free on its disk/).waitFor();
      await shot(page, `troubles-${scheme}`);
      await axe(`troubles, ${scheme}`, page);
      await end('troubles', page);
    }
  }

  /** The VMs that suffer: from the first page to one of them, and how it came. */
  async function suffering(browser) {
    const page = await open(browser);
    await signIn(page, 'viewer');
    const tile = page.locator('.tiles li', { hasText: 'VMs that suffer' });
    await tile.locator('b', { hasText: /^\d+$/ }).waitFor();
    const n = Number(await tile.locator('b').textContent());
    check('suffering: VMs of the full host are counted', n >= 1, String(n));
    await page.locator('figure', { hasText: 'VMs that got less than was due' }).waitFor();
    await tile.getByRole('link').click();
    await title(page, 'VMs');
    await page.getByRole('status').filter({ hasText: /^\d+ of \d+ VMs$/ }).waitFor();
    const got = (await page.locator('.vm .short').allTextContents()).map((t) => parseFloat(t)).filter((v) => !Number.isNaN(v));
    check('suffering: those that got too little, least first', got.length >= 1 && got.every((v, i) => v < 95 && (i === 0 || v >= got[i - 1])), got);
    await shot(page, 'suffering');
    await page.getByLabel('Got', { exact: true }).selectOption('');
    await page.getByRole('status').filter({ hasText: /^\d+ VMs$/ }).waitFor();
    await page.locator('.vm a').first().click();
    await page.locator('.tiles li.bad', { hasText: 'of what was due to it in the last minute' }).waitFor();
    await end('suffering', page);
  }

  /** Someone who has read nothing: from the first page on, by what it offers. */
  async function newUser(browser) {
    const page = await open(browser);
    await page.goto(one.url);
    await page.getByLabel('Token').fill(one.tokens.operator);
    await page.keyboard.press('Enter');
    await title(page, 'Overview');
    // Two of the recommendations are approved, and their ends are seen.
    await page.getByRole('link', { name: 'decide on them', exact: true }).click();
    const waits = card(page, 'Waiting for a decision');
    await waits.nth(2).waitFor();
    const titles = [];
    for (let i = 0; i < 2; i++) {
      titles.push(await waits.first().getAttribute('aria-label'));
      await waits.first().getByRole('button', { name: /^Approve/ }).click();
      await page.getByRole('status').filter({ hasText: `Approved: ${titles[i]}.` }).waitFor();
      await waits.filter({ hasText: titles[i] }).waitFor({ state: 'detached' });
    }
    await allEnd(page, titles);
    const third = await waits.first().getAttribute('aria-label');
    check('new user: the third was not approved', third !== null && !titles.includes(third), third);
    await shot(page, 'journey-recommendations');
    // Why a VM stays: by its name, from the list of VMs.
    const stays = one.stays;
    await follow(page, 'VMs');
    await title(page, 'VMs');
    await page.getByLabel('Name, host or state').fill(stays);
    await page.getByRole('status').filter({ hasText: /^\d+ of \d+ VMs$/ }).waitFor();
    await follow(page, stays);
    await title(page, stays);
    await page.getByRole('button', { name: 'Why not elsewhere?' }).click();
    await page.getByText(`${stays} stays on `).filter({ hasText: 'automation is disabled for the VM' }).waitFor();
    await page.locator('details.card', { hasText: 'Automation is disabled for the VM' }).waitFor();
    await shot(page, 'journey-why');
    // What happened last night.
    await follow(page, 'Overview');
    const night = page.locator('section', { has: page.getByRole('heading', { name: 'Last night' }) });
    const sentence = await night.locator('p').first().textContent();
    check('new user: the night is told with its hosts', one.slept.every((h) => sentence.includes(h)) && sentence.includes('slept'), sentence);
    await night.getByRole('link', { name: 'What happened last night' }).click();
    await title(page, 'History');
    const told = async (what) => page.locator('.told dl > div', { hasText: what }).first().textContent();
    await page.locator('.told').getByText('Put to standby').waitFor();
    check('new user: hosts that were put to standby', (await told('Put to standby')).includes(`${one.slept.length} host`), await told('Put to standby'));
    check('new user: hosts that were woken', (await told('Woken')).includes(`${one.slept.length} host`), await told('Woken'));
    for (const host of one.slept) {
      await page.getByLabel('Host', { exact: true }).fill(host);
      await page.keyboard.press('Enter');
      for (const what of ['Put to standby', 'Power on']) {
        const action = page.locator('article', { hasText: `${what}: ${host}` }).filter({ hasText: 'done' });
        await page.waitForFunction(([t]) => {
          if ([...document.querySelectorAll('article')].some((e) => e.textContent.includes(t))) return true;
          scrollBy(0, 300); // rows are in the page where it is scrolled to
          if (scrollY + innerHeight >= document.body.scrollHeight) scrollTo(0, 0);
          return false;
        }, [`${what}: ${host}`], { polling: 300 });
        await action.first().waitFor();
      }
    }
    await page.getByText(`Times are those of ${one.zone}.`).waitFor();
    const times = await page.locator('article .soft').first().textContent();
    check('new user: times are of the zone that the service has', times.includes(one.zone_name), times);
    await shot(page, 'journey-night');
    await end('new user', page);
  }

  return { someAndAll, hostileNames, troubled, suffering, newUser };
}
