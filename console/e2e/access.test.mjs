// Signing in, what a person may not do, a lost session, a base path.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { settled } from './pages.mjs';
import { open_servers } from './servers.mjs';

let servers, browser;
before(async () => {
  servers = await open_servers({ auth: 'key', base: '/work/flow' });
  browser = await open_browser();
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
});
// A refused sign-in, and the requests of a session that has ended.
const refused = [/answer 401: /, /Failed to load resource.* 401 /];

test('sign in, behind a base path', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context, { allowed: refused });
  await page.goto(`${servers.url}/instances`);
  await page.locator('h1', { hasText: 'Sign in' }).waitFor();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Paste your API key here.').waitFor();
  await page.getByLabel('API key').fill('cairn_wrong_key');
  await page.keyboard.press('Enter');
  await page.getByText('The server does not know this key').waitFor();
  await page.getByLabel('API key').fill(servers.keys.admin);
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Instances' }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), '', 'scripts cannot read the cookie');
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.waitForURL(/\/work\/flow\/keys$/);
  await page.locator('td', { hasText: 'priya.raman' }).first().waitFor();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('For whom').fill('robot');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText('It is shown only now').waitFor();
  await page.getByRole('button', { name: 'I have kept it' }).click();

  // The session ends elsewhere: the next request says so, and the page says what to do.
  const { csrf } = await page.evaluate(async () => (await fetch('/work/flow/v1/session')).json());
  const [cookie] = await browser.context.cookies(servers.url);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, 'Strict', '/work/flow']);
  const ended = await fetch(`${servers.url}/v1/session`, { method: 'DELETE', headers: { cookie: `${cookie.name}=${cookie.value}`, 'x-cairn-csrf': csrf } });
  assert.equal(ended.status, 204);
  await page.getByRole('link', { name: 'Instances' }).first().click();
  await page.locator('h1', { hasText: 'Your session has ended' }).waitFor();
  await page.getByLabel('API key').fill(servers.keys.viewer);
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Instances' }).waitFor();
  await settled(page);
  assert.equal(await page.getByRole('link', { name: 'Start instance' }).count(), 0, 'a viewer is offered no start');
  assert.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
  assert.equal(await page.locator('thead .check').count(), 0);
  await page.getByRole('button', { name: /Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.locator('h1', { hasText: 'Sign in' }).waitFor();
  assert.deepEqual(faults, []);
  await page.close();
});

test('a person who may only answer tasks', { timeout: 120000 }, async () => {
  await servers.call('POST', '/v1/instances', { definition: 'document.review', input: {} }).catch(() => {});
  const { id } = await servers.call('POST', '/v1/instances', { definition: 'hello', input: { name: 'Priya' } });
  const { page, faults } = await open_page(browser.context, { allowed: refused });
  await page.goto(servers.url);
  await page.getByLabel('API key').fill(servers.keys.clerk);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/inbox/);
  await page.locator('.tasklist a', { hasText: 'Say hello to Priya' }).click();
  await page.getByRole('button', { name: 'Take it' }).click();
  await page.getByText('You have taken it').waitFor();
  await page.getByLabel('Greeting').fill('Namaste');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status').getByText(/Completed “Say hello to Priya”/).waitFor();
  assert.equal((await servers.call('GET', `/v1/instances/${id}`)).status, 'completed');
  assert.equal(await page.getByRole('link', { name: 'Instances' }).count(), 0, 'pages that the person may not read are not offered');
  assert.deepEqual(faults, []);
  await page.close();
});

test('a request without the token of the session is refused', { timeout: 60000 }, async () => {
  const answer = await fetch(`${servers.url}/v1/session`, { method: 'POST', headers: { authorization: `Bearer ${servers.keys.admin}` } });
  const cookie = answer.headers.get('set-cookie').split(';')[0];
  const start = (extra) => fetch(`${servers.url}/v1/instances`, { method: 'POST', headers: { 'content-type': 'application/json', cookie, ...extra }, body: JSON.stringify({ definition: 'hello' }) });
  assert.equal((await start({})).status, 403);
  const { csrf } = await answer.json();
  assert.equal((await start({ 'x-cairn-csrf': csrf })).status, 201);
});
