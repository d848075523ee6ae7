// The first screen of cairn dev without any file: three examples that invite a click.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { settled } from './pages.mjs';
import { open_servers } from './servers.mjs';

let servers, browser;
before(async () => {
  servers = await open_servers({ auth: 'none', examples: false, own: true });
  browser = await open_browser();
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
});

test('one waits for a person, one retries, one waits for a timer', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  await page.goto(servers.url);
  await settled(page);
  await page.getByText('Say hello to Ada').first().waitFor();
  await page.getByText('Charge the card').first().waitFor();
  await page.goto(`${servers.url}/instances`);
  for (const [reference, status] of [['A-17', 'Retrying'], ['Ada', 'Waiting for time']]) await page.locator('tr', { hasText: reference }).filter({ hasText: status }).first().waitFor();
  await page.locator('tr', { hasText: 'Say hello' }).filter({ hasText: 'Waiting for a person' }).waitFor();
  assert.equal(await page.locator('tbody tr[aria-rowindex], tbody tr:has(.check)').count(), 3);

  // A restart starts nothing again.
  await servers.stop_cairn();
  await servers.launch();
  const { items } = await servers.call('GET', '/v1/instances');
  assert.equal(items.length, 3);
  const id_of = (definition) => items.find((one) => one.definition === definition).id;
  await page.goto(`${servers.url}/instances/${id_of('card.payment')}`);
  await page.getByText(/“Charge the card” failed/).waitFor();
  await page.goto(`${servers.url}/instances/${id_of('parcel')}`);
  await page.locator('svg.diagram [data-step="transport"]').first().waitFor();
  assert.deepEqual(faults.filter((one) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(one)), []);
  await page.close();
});
