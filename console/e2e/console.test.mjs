// The console against a real server, in a real browser. node --test e2e/
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { settled } from './pages.mjs';
import { charge, seed } from './seed.mjs';
import { open_servers } from './servers.mjs';

let servers, browser, ids;
before(async () => {
  servers = await open_servers({ auth: 'none' });
  browser = await open_browser();
  ids = await seed(servers);
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
});

// A page that fails the test if anything went wrong in it.
const scene = (name, run, options = {}) =>
  test(name, { timeout: 180000 }, async () => {
    const { page, faults } = await open_page(browser.context, options);
    try {
      await page.setViewportSize({ width: 1440, height: 900 });
      await run(page);
      assert.deepEqual(faults, []);
    } catch (error) {
      await page.screenshot({ path: `/tmp/console-failed-${name.replace(/\W+/g, '-')}.png` }).catch(() => {});
      if (faults.length) error.message += `\nfaults: ${faults.join('\n')}`;
      throw error;
    } finally {
      await page.close();
    }
  });

scene('the page has one policy, and everything comes from here', async (page) => {
  const hosts = new Set();
  page.on('request', (request) => hosts.add(new URL(request.url()).origin));
  const answer = await page.goto(servers.url);
  const policies = (await answer.headersArray()).filter((one) => one.name.toLowerCase() === 'content-security-policy');
  assert.equal(policies.length, 1);
  assert.match(policies[0].value, /require-trusted-types-for 'script'/);
  await settled(page);
  assert.deepEqual([...hosts], [new URL(servers.url).origin]);
});

scene('start, answer the task, see it complete', async (page) => {
  await page.goto(`${servers.url}/start/hello`);
  await settled(page);
  await page.getByRole('button', { name: /Start/ }).last().click();
  await page.waitForURL(/\/instances\//);
  await page.getByRole('link', { name: 'Open the task' }).first().click();
  await page.waitForURL(/\/inbox\//);
  await page.getByRole('button', { name: 'Complete', exact: true }).click();
  await page.getByText('Please fill this in.').waitFor();
  await page.getByLabel('Greeting').fill('Good morning');
  await page.getByRole('button', { name: 'Complete', exact: true }).click();
  await page.getByRole('status').getByRole('link', { name: 'Show it' }).click();
  await page.waitForURL(/\/instances\//);
  await page.locator('.head .st', { hasText: 'Completed' }).waitFor();
  await page.getByText('"Good morning"').first().waitFor();
});

scene('deploy, start, answer the task, see it complete', async (page) => {
  await page.goto(`${servers.url}/definitions`);
  await settled(page);
  await page.getByRole('button', { name: 'Deploy' }).click();
  const dialog = page.getByRole('dialog');
  const write = async (form) => {
    await dialog.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`cairn: 1
name: team.lunch
version: 1.0.0
title: Team lunch
steps:
  - id: choose
    task:
      name: Choose
      title: Where do we eat?
      ${form}: { type: object, required: [place], properties: { place: { type: string, title: Place } } }
      result: answer
output: = state.answer
`);
  };
  await write('frm');
  await dialog.getByRole('button', { name: 'Check' }).click();
  await dialog.getByRole('alert').first().waitFor();
  await write('form');
  await dialog.getByRole('button', { name: 'Deploy' }).click();
  await page.waitForURL(/\/definitions\/team\.lunch$/);
  await page.getByRole('link', { name: 'Start instance' }).click();
  await page.waitForURL(/\/start\/team\.lunch$/);
  await page.getByRole('button', { name: /Start/ }).last().click();
  await page.waitForURL(/\/instances\//);
  await page.getByRole('link', { name: 'Open the task' }).first().click();
  await page.getByLabel('Place').fill('The old mill');
  await page.getByRole('button', { name: 'Complete', exact: true }).click();
  await page.getByRole('status').getByRole('link', { name: 'Show it' }).click();
  await page.locator('.head .st', { hasText: 'Completed' }).waitFor();
  await page.getByText('"The old mill"').first().waitFor();
}, { allowed: [/answer 422: POST .*dry_run/, /Failed to load resource.* 422 /] });

scene('a failing step: reason first, edit the state, retry', async (page) => {
  await page.goto(`${servers.url}/instances/${ids.suspended[1]}`);
  await page.getByText('Stopped at “Check the price”').waitFor();
  assert.ok((await page.locator('.pane').last().innerText()).includes('9007199254740993'), 'the number keeps its text');
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog');
  const editor = dialog.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText('"offer": {"price": 120.50},');
  await dialog.locator('.tree .add', { hasText: 'offer.price' }).waitFor();
  await dialog.getByRole('button', { name: 'Save and retry' }).click();
  await dialog.getByText('Say why you change it').waitFor();
  await dialog.getByLabel('Reason').fill('The price was missing in the order');
  await dialog.getByRole('button', { name: 'Save and retry' }).click();
  await page.locator('.head .st', { hasText: 'Completed' }).waitFor();
  const audit = await servers.call('GET', '/v1/audit?limit=1000');
  assert.ok(audit.items.some((row) => row.what === 'editState' && row.why === 'The price was missing in the order'));
});

scene('one cursor over diagram, timeline, history and state', async (page) => {
  await page.goto(`${servers.url}/instances/${ids.review[1]}`);
  await page.getByText('Event 4 of 4').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('Event 3 of 4').waitFor();
  await page.locator('.hist .is-cursor', { hasText: 'Ask the scoring service done' }).waitFor();
  await page.locator('.gantt .is-cursor', { hasText: 'Ask the scoring service' }).waitFor();
  await page.locator('.inspector h2', { hasText: 'Ask the scoring service' }).waitFor();
  assert.match(page.url(), /event=3/);
  await page.locator('svg.diagram [data-step="review"]').first().click();
  await page.getByText('Event 4 of 4').waitFor();
  await page.keyboard.press('v');
  await page.locator('.texttree').waitFor();
});

scene('a bulk action on selected rows and on a filter', async (page) => {
  await servers.call('POST', '/v1/definitions', charge('2.2.0', '').replace('state.offer.price', 'state.stock.none').replace('purchase.order', 'bulk.order'), 'application/yaml');
  for (let at = 0; at < 60; at++) await servers.call('POST', '/v1/instances', { definition: 'bulk.order', input: { order: `B-${at}` } });
  await page.goto(`${servers.url}/instances?q=status:suspended+definition:bulk.order`);
  await page.getByText('60 instances').first().waitFor();
  await page.locator('thead .check').click();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Retry 60 instances?').waitFor();
  await dialog.getByLabel('Reason').fill('Try with a sample');
  await dialog.getByRole('button', { name: 'Try with 5 first' }).click();
  await dialog.getByText('Retried 5 of 5').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('60 instances').first().waitFor();
  await page.locator('thead .check').click();
  await page.getByRole('button', { name: 'Select all that match' }).click();
  await page.getByRole('button', { name: 'More' }).first().click();
  await page.getByRole('menuitem', { name: 'Cancel' }).click();
  await dialog.locator('dd', { hasText: '60' }).first().waitFor();
  await dialog.getByRole('button', { name: 'Cancel 60' }).click();
  await dialog.getByText('Cancelled 60 of 60').waitFor();
  const rest = await servers.call('GET', '/v1/instances?filter=status:suspended%20definition:bulk.order');
  assert.equal(rest.items.length, 0);
});

scene(
  'a thousand instances with one error are one row, and their bulk action survives a restart',
  async (page) => {
    await servers.call('POST', '/v1/definitions', charge('2.2.0', '').replace('state.offer.price', 'state.stock.none').replace('purchase.order', 'mass.order'), 'application/yaml');
    for (let at = 0; at < 1000; at += 20) await Promise.all(Array.from({ length: 20 }, (_, one) => servers.call('POST', '/v1/instances', { definition: 'mass.order', input: { order: `M-${at + one}` } })));
    await page.goto(`${servers.url}/errors?definition=mass.order`);
    const row = page.locator('.groups li', { hasText: 'Check the price' });
    await row.getByText('1,000', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Retry 1,000' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Retry 1,000 instances?').waitFor();
    await dialog.getByLabel('Reason').fill('The stock service is back');
    await dialog.getByRole('button', { name: 'Retry 1,000' }).click();
    await dialog.getByText(/of 1,000 done/).waitFor();
    await servers.stop_cairn();
    await servers.launch();
    await dialog.getByText('Retried 1,000 of 1,000').waitFor({ timeout: 90000 });
    await dialog.getByRole('link', { name: 'Results' }).click();
    await page.locator('h1', { hasText: 'Retried 1,000 of 1,000' }).waitFor();
    await page.getByText('The stock service is back').waitFor();
    await page.locator('tbody tr').nth(199).waitFor();
    const jobs = (await servers.call('GET', '/v1/bulk')).items;
    const job = jobs.find((one) => one.reason === 'The stock service is back');
    assert.deepEqual([job.total, job.done, job.failed_count], [1000, 1000, 0]);
    await page.getByRole('link', { name: 'Bulk actions' }).first().click();
    await page.locator('tbody tr', { hasText: 'The stock service is back' }).waitFor();
  },
  { allowed: [/502/, /Failed to load resource/, /ERR_/, /503/] },
);

scene('retrying is a status, with the error, the attempt and the next try', async (page) => {
  await page.goto(`${servers.url}/instances?q=status:retrying`);
  const row = page.locator('tbody tr', { hasText: 'PAY-71' });
  await row.getByText('Retrying').waitFor();
  await row.getByText(/\d of 5/).waitFor();
  await row.getByText(/Try \d (in|any moment|is being made)/).waitFor();
  await page.goto(`${servers.url}/`);
  await page.locator('.groups li[data-st=retrying]', { hasText: 'Charge card' }).getByText('3', { exact: true }).first().waitFor();
});

scene('a saved view is kept by the server', async (page) => {
  await page.goto(`${servers.url}/instances?q=status:suspended+definition:purchase.order`);
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByLabel('Name').fill('Orders to fix');
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('link', { name: 'Orders to fix' }).waitFor();
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${servers.url}/instances`);
  await page.getByRole('link', { name: 'Orders to fix' }).click();
  await page.waitForURL(/purchase\.order/);
  await page.getByRole('button', { name: 'Forget view' }).click();
  await page.getByRole('link', { name: 'Orders to fix' }).waitFor({ state: 'detached' });
});

scene('the keyboard alone: from home to the next task', async (page) => {
  await page.goto(servers.url);
  await settled(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('command palette').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.waitForURL(/\/instances$/);
  await page.locator('.table tbody tr').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('ref:L-1049');
  await page.keyboard.press('Enter');
  await page.getByText('1 instance').first().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('o');
  await page.locator('h1', { hasText: 'L-1049' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.locator('.tasklist a[aria-current]').waitFor();
  for (let tries = 0; tries < 10 && !(await page.locator('.task h2').innerText()).includes('L-1048'); tries++) {
    const before = await page.locator('.task h2').innerText();
    await page.keyboard.press('j');
    await page.waitForFunction((old) => document.querySelector('.task h2')?.textContent !== old, before);
  }
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.type('5.90');
  await page.getByText(/Draft saved/).waitFor();
  await page.reload();
  await page.locator('.task h2', { hasText: 'L-1048' }).waitFor();
  assert.equal(await page.getByLabel('Interest rate').inputValue(), '5.90', 'the draft survives a reload');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status').getByText(/Completed “Review L-1048”. Next:/).waitFor();
  await page.waitForFunction(() => !document.querySelector('.task h2')?.textContent.includes('L-1048'));
});

scene('palette: paste a reference and land on it', async (page) => {
  await page.goto(servers.url);
  await settled(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('L-1050');
  await page.getByRole('combobox', { name: 'Command palette' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Command palette' }).inputValue(), 'L-1050', 'no letter is lost while the palette loads');
  await page.getByRole('option', { name: /L-1050\s+Credit/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'L-1050' }).waitFor();
});

scene('live: from commit to pixel', async (page) => {
  const took = [];
  for (let round = 0; round < 12; round++) {
    const { id } = await servers.call('POST', '/v1/instances', { definition: 'hello', input: { name: `Live ${round}` } });
    await page.goto(`${servers.url}/instances/${id}`);
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
    await page.locator('.head .st', { hasText: 'Waiting for a person' }).waitFor();
    const task = (await servers.call('GET', `/v1/tasks?instance=${id}`)).items[0];
    const seen = page.evaluate(() => new Promise((done) => new MutationObserver(() => document.querySelector('.head .st')?.textContent.includes('Completed') && requestAnimationFrame(() => done(Date.now()))).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })));
    await servers.call('POST', `/v1/tasks/${task.id}/complete`, { payload: { greeting: 'Hi' } });
    const committed = Date.now();
    took.push((await seen) - committed);
  }
  took.sort((a, b) => a - b);
  console.log(`commit to pixel: p50 ${took[6]} ms, p95 ${took[11]} ms`);
  // Other programs on the machine must not decide, so the bar of 250 ms is for the faster half.
  assert.ok(took[5] < 250, `${took.join(' ')} ms`);
});

scene('the first content of each page, and what the first load takes', async (page) => {
  const found = [];
  let bytes = 0;
  let requests = 0;
  const tools = await page.context().newCDPSession(page);
  await tools.send('Network.enable');
  tools.on('Network.loadingFinished', (event) => ((bytes += event.encodedDataLength), requests++));
  await tools.send('Network.setCacheDisabled', { cacheDisabled: true });
  for (let round = 0; round < 5; round++) {
    [bytes, requests] = [0, 0];
    await page.goto(servers.url);
    await settled(page);
    found.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity));
  }
  found.sort((a, b) => a - b);
  console.log(`first content: best ${found[0].toFixed(0)} ms, median ${found[2].toFixed(0)} ms; home: ${requests} requests, ${(bytes / 1024).toFixed(0)} KB with its data`);
  assert.ok(found[0] < 300, `${found.join(' ')} ms`);
  assert.ok(bytes < 150 * 1024, `${bytes} bytes`);
});

scene('50 000 rows of history scroll', async (page) => {
  const at = Date.parse('2026-11-18T00:00:00Z');
  const rows = Array.from({ length: 50000 }, (_, index) => ({ sequence: index, version: 1, event: index % 2 ? 'completed' : 'started', step: 'review', at: new Date(at + index * 1000).toISOString(), actor: 'x', details: null }));
  await page.route('**/history**', (route) => {
    const url = new URL(route.request().url());
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const to = from + Number(url.searchParams.get('limit'));
    return route.fulfill({ contentType: 'application/json', body: JSON.stringify({ items: rows.slice(from, to), next_cursor: to < rows.length ? String(to) : null }) });
  });
  await page.goto(`${servers.url}/instances/${ids.review[3]}`);
  await page.getByText('of 50000').waitFor({ timeout: 60000 });
  await page.waitForTimeout(500);
  // Time on the page's own thread, not on the clock: other programs on the machine must not decide.
  const tools = await page.context().newCDPSession(page);
  await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const work = async () => (await tools.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000;
  // A busy machine also costs time on the own thread (caches, clock rate). A step that is slow by itself is slow in every
  // round, so the best round of each step counts.
  const best = Array(60).fill(Infinity);
  for (let round = 0; round < 5 && !(Math.max(...best) < 50); round++) {
    for (let step = 0; step < 60; step++) {
      const begun = await work();
      await page.evaluate(async (at) => {
        const list = document.querySelector('.hist').parentElement;
        list.scrollTop = (list.scrollHeight / 60) * at;
        await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
      }, step);
      best[step] = Math.min(best[step], (await work()) - begun);
    }
  }
  const steps = best.sort((a, b) => a - b);
  const nodes = await page.locator('.hist li').count();
  console.log(`history: ${nodes} rows in the page; work for one scroll step: p50 ${steps[30].toFixed(1)} ms, p95 ${steps[57].toFixed(1)} ms, most ${steps[59].toFixed(1)} ms`);
  assert.ok(nodes < 200);
  assert.ok(steps[59] < 50, 'no scroll step takes 50 ms of work');
});

scene('a large payload is previewed and can be downloaded', async (page) => {
  const { id } = await servers.call('POST', '/v1/instances', { definition: 'hello', input: { name: 'Big', text: 'x'.repeat(300 * 1024) } });
  await page.goto(`${servers.url}/instances/${id}`);
  await settled(page);
  await page.getByRole('link', { name: 'Raw' }).click();
  await page.getByText('This is the beginning.').waitFor();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download all' }).click()]);
  assert.match(saved.suggestedFilename(), /\.json$/);
});

scene('German, UTC, dark: the choice stays', async (page) => {
  await page.goto(`${servers.url}/system`);
  await settled(page);
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.locator('.rail', { hasText: 'Übersicht' }).waitFor();
  await page.getByRole('button', { name: 'Dunkel' }).click();
  await page.getByRole('button', { name: 'UTC' }).click();
  await page.reload();
  await page.locator('.rail', { hasText: 'Übersicht' }).waitFor();
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  assert.equal(await page.getAttribute('html', 'lang'), 'de');
  await page.evaluate(() => localStorage.clear());
});

scene(
  'the server goes away and comes back',
  async (page) => {
    await page.goto(`${servers.url}/instances`);
    await page.locator('.table tbody tr').first().waitFor();
    await servers.stop_cairn();
    await page.getByText('No connection to the server').waitFor({ timeout: 60000 });
    assert.ok((await page.locator('.table tbody tr').count()) > 3, 'the last known state stays');
    await servers.launch();
    await page.getByText('No connection to the server').waitFor({ state: 'detached', timeout: 60000 });
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor({ timeout: 30000 });
  },
  { allowed: [/502/, /Failed to load resource/, /ERR_/, /503/] },
);
