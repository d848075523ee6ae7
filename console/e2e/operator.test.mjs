// What the console says to an operator is what the server has answered.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { settled } from './pages.mjs';
import { cairn, open_servers } from './servers.mjs';

let servers, browser;
before(async () => {
  servers = await open_servers({ auth: 'none' });
  browser = await open_browser();
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
});

const scene = (name, run) =>
  test(name, { timeout: 120000 }, async () => {
    const { page, faults } = await open_page(browser.context);
    try {
      await run(page);
      assert.deepEqual(faults, []);
    } catch (error) {
      if (faults.length) error.message += `\nfaults: ${faults.join('\n')}`;
      throw error;
    } finally {
      await page.close();
    }
  });

scene('the audit page shows the end of a long trail, and says when it is broken', async (page) => {
  for (let at = 0; at < 405; at++) await servers.call('POST', '/v1/signals', { name: 'n', key: `k${at}` });
  const rows = (await servers.call('GET', '/v1/audit?limit=1000')).items;
  await page.goto(`${servers.url}/audit`);
  await page.locator('tbody tr').nth(199).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 200);
  assert.equal(await page.locator('tbody tr').first().locator('td').last().textContent(), String(rows.at(-1).sequence));
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText(`The trail is intact: ${rows.length} rows.`).waitFor();
  await page.route('**/v1/audit/verify', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), intact: false, broken_at: 3, why: 'the hash does not match' } });
  });
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('alert').getByText('broken at row 3: the hash does not match').waitFor();
  assert.equal(await page.getByText('The trail is intact').count(), 0);
});

scene('a bulk action that fails for every instance', async (page) => {
  const ids = [];
  for (let at = 0; at < 3; at++) {
    const { id } = await servers.call('POST', '/v1/instances', { definition: 'hello', input: { name: 'Ada' } });
    ids.push(id);
    await servers.call('POST', `/v1/instances/${id}/cancel`, {});
  }
  await page.goto(`${servers.url}/instances?q=status:cancelled+definition:hello`);
  await page.getByText('3 instances').first().waitFor();
  await page.locator('thead .check').click();
  await page.getByRole('button', { name: 'Select all that match' }).click();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 3' }).click();
  await dialog.getByText('Retried 0 of 3').waitFor();
  const links = await dialog.locator('ul a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  assert.deepEqual(links.sort(), ids.map((id) => `/instances/${id}`).sort());
});

scene('the retention removes what was chosen', async (page) => {
  const before = (await servers.call('GET', '/v1/instances?status=cancelled')).items.length;
  assert.ok(before > 0);
  await page.goto(`${servers.url}/system`);
  await page.getByRole('button', { name: 'Run retention' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Older than').fill('0s');
  await dialog.getByLabel('Reason').fill('they are not needed');
  await dialog.getByRole('button', { name: 'Run retention' }).click();
  await page.getByText('Retention has run.').waitFor();
  assert.equal((await servers.call('GET', '/v1/instances?status=cancelled')).items.length, 0);
  const row = (await servers.call('GET', '/v1/audit?limit=1000&what=runRetention')).items.at(-1);
  assert.equal(row.why, 'they are not needed');
});

scene('act as a person with any name', async (page) => {
  await page.goto(servers.url);
  await settled(page);
  for (const name of ['Jörg Müller', '李小龙']) {
    await page.evaluate((one) => localStorage.setItem('cairn.act_as', JSON.stringify(one)), name);
    await page.goto(`${servers.url}/start/hello`);
    await settled(page);
    await page.locator('form button[type=submit], main button.is-primary').last().click();
    await page.waitForURL(/\/instances\//);
    const row = (await servers.call('GET', '/v1/audit?limit=1000&what=startInstance')).items.at(-1);
    assert.equal(row.who, name);
  }
});

scene('every command that a page shows is one that cairn takes', async (page) => {
  const shown = new Set();
  for (const path of ['/', '/instances', '/inbox', '/definitions', '/definitions/hello', '/schedules', '/runs', '/runs?status=failed', '/dead-letters', '/audit', '/keys', '/system']) {
    await page.goto(servers.url + path);
    await settled(page);
    for (const text of await page.locator('button.copy').evaluateAll((all) => all.map((one) => one.title))) if (text.startsWith('cairn ')) shown.add(text);
  }
  assert.ok(shown.size > 6, [...shown].join());
  for (const text of shown) {
    const ran = spawnSync('/bin/sh', ['-c', text.replace(/^cairn/, '"$CAIRN_PROGRAM"')], { encoding: 'utf8', env: { PATH: process.env.PATH, CAIRN_PROGRAM: cairn, CAIRN_SERVER: servers.url } });
    assert.notEqual(ran.status, 2, `${text}: ${ran.stderr}`);
  }
});
