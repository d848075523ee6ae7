// Pages without an account: the link to one question, on a phone, and the elements in a page of another site.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { open_servers } from './servers.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const purchase = `cairn: 1
name: purchase
version: 1.0.0
title: Purchase
input: { type: object }
steps:
  - id: budget
    task: { name: Budget, title: Budget checked, roles: [clerk] }
  - id: approve
    title: Approve
    task:
      name: Approve
      title: = input.what
      roles: [boss]
      payload: { amount: "21480.00", currency: EUR, items: = input.items, why: "The team starts on 1 December. Delivery takes 8 days.", supplier: "Helvar AG, used 14 times", number: 9007199254740993 }
      form: { type: object, required: [approved], properties: { approved: { type: boolean }, comment: { type: string, title: Note } }, if: { properties: { approved: { const: false } } }, then: { required: [comment] } }
      deadline: { after: 2d, steps: [ { fail: { code: late, message: Too late } } ] }
`;
const input = { what: '12 laptops for the new support team in Porto', items: [{ name: 'ThinkPad T14, 32 GB', quantity: 12, amount: '19680.00' }, { name: 'USB-C dock', quantity: 12, amount: '1800.00' }] };

let servers, browser, other, other_url;
let html = '';
before(async () => {
  // The page of the other site has its own strict policy.
  other = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.setHeader('content-security-policy', `default-src 'none'; script-src ${new URL(servers.url).origin} 'self'; connect-src ${new URL(servers.url).origin}; style-src 'self'; img-src data:; require-trusted-types-for 'script'`);
    response.end(html);
  });
  await new Promise((done) => other.listen(0, '127.0.0.1', done));
  other_url = `http://localhost:${other.address().port}`;
  servers = await open_servers({ auth: 'key', base: '/flow', examples: false, more: () => ['--cors-origins', other_url] });
  browser = await open_browser();
  await servers.call('POST', '/v1/definitions', purchase, 'application/yaml');
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
  other?.close();
});

async function question() {
  const { id } = await servers.call('POST', '/v1/instances', { definition: 'purchase', input });
  const open = async () => (await servers.call('GET', `/v1/tasks?instance=${id}`)).items[0];
  await servers.call('POST', `/v1/tasks/${(await open()).id}/complete`, { payload: {} });
  return { id, task: await open() };
}
const link_to = async (task, more = {}) => (await servers.call('POST', `/v1/tasks/${task.id}/link`, { person: 'jon.ferreira', ...more })).path;
const check = async (page) => {
  await page.evaluate(axe);
  return page.evaluate(async () => (await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] })).violations.map((one) => `${one.id}: ${one.nodes[0].target.join(' ')} ${one.nodes[0].failureSummary}`));
};
const origin = () => new URL(servers.url).origin;

test('an approver answers from a phone, once, without an account', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  const asked = [];
  page.on('request', (request) => request.url().includes('/v1/') && asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  const { task } = await question();
  const path = await link_to(task);
  const shots = process.env.SHOTS;
  for (const [theme, size] of [['light', { width: 1440, height: 900 }], ['dark', { width: 1440, height: 900 }], ['dark', { width: 360, height: 740 }], ['light', { width: 360, height: 740 }]]) {
    await page.setViewportSize(size);
    await page.goto(origin() + path);
    await page.evaluate((one) => (document.documentElement.dataset.theme = one), theme);
    await page.locator('h1', { hasText: '12 laptops' }).waitFor();
    assert.deepEqual(await check(page), [], `${theme} ${size.width}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, 'nothing is too wide');
    if (shots) await page.screenshot({ path: `${shots}/approve-${theme}-${size.width}.png` });
  }
  await page.getByText('€21,480.00').waitFor();
  await page.getByText('12 × ThinkPad T14').waitFor();
  await page.getByText('9,007,199,254,740,993').waitFor();
  const said = await page.locator('body').innerText();
  assert.ok(!/instance|workflow|signal|\btask\b|step/i.test(said), said);
  // Both answers are in reach, and large enough for a thumb.
  for (const name of ['Decline', 'Approve']) {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox();
    assert.ok(box.height >= 44 && box.y + box.height <= 740, JSON.stringify(box));
  }
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText('Please fill this in.').waitFor();
  await page.getByLabel('Note').fill('Too expensive this quarter');
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText('Thank you. Your answer: Decline.').waitFor();
  if (shots) await page.screenshot({ path: `${shots}/approve-thanks-360.png` });
  await page.reload();
  await page.getByText('This was answered already').waitFor();
  assert.deepEqual(await check(page), []);
  assert.deepEqual([...new Set(asked)].sort(), ['GET /flow/v1/answer', 'POST /flow/v1/answer'], 'nothing else is asked, not even for a session');
  const row = await servers.call('GET', `/v1/tasks/${task.id}`);
  assert.deepEqual([row.status, row.completed_by], ['completed', 'jon.ferreira']);
  await page.goto(`${origin()}/flow/t/ct1.x.y`);
  await page.getByText('This link does not work').waitFor();
  const { task: late } = await question();
  await page.goto(origin() + (await link_to(late, { expires_in: '1ms' })));
  await page.getByText('This link has expired').waitFor();
  const { task: proposed } = await question();
  await page.goto(origin() + (await link_to(proposed, { answer: { approved: true } })));
  assert.equal((await servers.call('GET', `/v1/tasks/${proposed.id}`)).status, 'open', 'opening a link answers nothing');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Thank you. Your answer: Approve.').waitFor();
  assert.deepEqual(faults, []);
  await page.close();
});

test('a diagram and an inbox in a page of another site', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  const { id, task } = await question();
  const diagram = (await servers.call('POST', '/v1/embed', { instance: id })).token;
  const inbox = (await servers.call('POST', '/v1/embed', { inbox: true, person: 'jon.ferreira', task_roles: ['boss'] })).token;
  html = `<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,"><script type="module" src="${servers.url}/embed.js"></script></head><body><main><h1>Order</h1>
    <cairn-diagram instance="${id}" token="${diagram}" refresh="1" theme="light"></cairn-diagram><h2>To do</h2><cairn-inbox token="${inbox}" refresh="1" theme="light"></cairn-inbox></main></body></html>`;
  await page.goto(other_url);
  const picture = page.locator('cairn-diagram svg.dia');
  await picture.waitFor();
  await picture.locator('[data-state="waiting"]').first().waitFor({ state: 'attached' });
  const list = page.locator('cairn-inbox');
  await list.getByRole('button', { name: '12 laptops for the new support team in Porto' }).first().click();
  await list.getByText('€21,480.00').waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/embed.png`, fullPage: true });
  assert.deepEqual(await check(page), []);
  const told = page.evaluate(() => new Promise((done) => document.addEventListener('cairn-completed', (event) => done(event.detail))));
  await list.getByLabel('Note').fill('Fine');
  await list.getByRole('button', { name: 'Approve', exact: true }).click();
  const detail = await told;
  assert.ok(detail.task);
  const done = await servers.call('GET', `/v1/tasks/${detail.task}`);
  assert.deepEqual([done.status, done.completed_by], ['completed', 'jon.ferreira']);
  if (detail.task === task.id) await picture.locator('[data-step="approve"][data-state="done"]').waitFor({ state: 'attached', timeout: 15000 });
  assert.deepEqual(faults, []);
  await page.close();
});
