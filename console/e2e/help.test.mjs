// The documentation in the program: the console leads to it, its search and theme work under the policy of the server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { open_servers } from './servers.mjs';

let servers, browser;
before(async () => {
  servers = await open_servers({ auth: 'none' });
  browser = await open_browser();
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
});

test('from the console to a page', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  await page.goto(`${servers.url}/`);
  await page.locator('h1').first().waitFor();
  await page.keyboard.press('?');
  const opened = browser.context.waitForEvent('page');
  await page.getByRole('link', { name: 'Documentation of this version' }).click();
  const help = await opened;
  await help.locator('h1', { hasText: 'The documentation of cairn' }).waitFor();
  await help.close();
  assert.deepEqual(faults, []);
});

test('search, theme and pictures', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  await page.goto(`${servers.url}/help/`);
  await page.locator('h1').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('back up restore');
  await page.locator('#found a').first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Back up and restore' }).waitFor();
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.locator('#theme').click();
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  await page.reload();
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark, 'the theme is remembered');
  await page.goto(`${servers.url}/help/concepts/leases.html`);
  await page.locator('main img').first().scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector('main img').naturalWidth > 0);
  assert.deepEqual(faults, []);
});
