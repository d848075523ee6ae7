// Pictures of every page: node e2e/shots.mjs [--out DIR] [--only NAME]. Look at them.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { open_browser, open_page } from './browser.mjs';
import { seed } from './seed.mjs';
import { open_servers } from './servers.mjs';

const argument = (name, fallback) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : process.argv[at + 1];
};
const out = resolve(argument('--out', 'shots'));
const only = argument('--only', '').split(',').filter(Boolean);
mkdirSync(out, { recursive: true });
const servers = await open_servers({ auth: 'none' });
const browser = await open_browser();
let bad = 0;
try {
  const { page, faults } = await open_page(browser.context);
  const shot = async (name, path, { width = 1440, height = 900, theme = 'light', act, language } = {}) => {
    if (only.length && !only.some((one) => name.startsWith(one))) return;
    await page.setViewportSize({ width, height });
    await page.goto(servers.url + path);
    await page.evaluate(([one, tongue]) => { localStorage.setItem('cairn.theme', JSON.stringify(one)); localStorage.setItem('cairn.language', JSON.stringify(tongue)); }, [theme, language ?? 'en']);
    await page.goto(servers.url + path);
    await page.waitForSelector('main h1, main h2');
    await page.waitForFunction(() => !document.querySelector('.skel'));
    await page.waitForTimeout(700);
    if (act) await act(page);
    await page.screenshot({ path: `${out}/${name}.png` });
    console.log(name, faults.length ? faults.splice(0).join('\n  ') : '');
  };
  await shot('first', '/');
  const ids = await seed(servers);
  const both = async (name, path, options = {}) => {
    await shot(name, path, options);
    await shot(`${name}-dark`, path, { ...options, theme: 'dark' });
    await shot(`${name}-360`, path, { ...options, width: 360, height: 740 });
  };
  await both('home', '/');
  await both('instances', '/instances');
  await both('instance-suspended', `/instances/${ids.suspended[0]}`);
  await both('instance-person', `/instances/${ids.review[0]}`);
  await shot('instance-retrying', `/instances/${ids.retrying[0]}`);
  await shot('instance-signal', `/instances/${ids.signal}`);
  await shot('instance-done', `/instances/${ids.done}`);
  await shot('instance-text', `/instances/${ids.review[0]}`, { act: async (one) => one.keyboard.press('v') });
  await shot('edit-state', `/instances/${ids.suspended[0]}`, { act: async (one) => { await one.keyboard.press('e'); await one.waitForTimeout(900); } });
  await both('inbox', `/inbox/${ids.task}`);
  await shot('inbox-list-360', '/inbox', { width: 360, height: 740 });
  await both('definitions', '/definitions');
  await both('definition', '/definitions/purchase.order');
  await shot('definition-credit', '/definitions/credit.review');
  await both('start', '/start/credit.review');
  await both('errors', '/errors');
  await both('instances-retrying', '/instances?q=status:retrying');
  await both('alerts', '/alerts');
  await both('batches', '/batches');
  await both('batch', `/batches/${ids.job}`);
  await both('schedules', '/schedules');
  await both('runs', '/runs');
  const at = (minutes) => new Date(Date.now() - minutes * 60000).toISOString();
  const letter = (id, reason, minutes) => ({ id, kind: 'message', reason, node: 'node-1', at: at(minutes), instance: ids.suspended[id % 5], envelope: { kind: 'signal', name: 'payment.received', key: `O-${id}`, payload: { amount: '49.90' } } });
  await page.route('**/v1/dead-letters*', (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify({ items: [1, 2, 3].map((id) => letter(id, 'the instance does not exist any more', id * 7)).concat(letter(4, 'refused 20 times: state too large', 90)), next_cursor: null }) }));
  await both('dead-letters', '/dead-letters', { act: async (one) => { await one.getByRole('button', { name: '#1', exact: true }).click(); } });
  await page.unroute('**/v1/dead-letters*');
  await both('events', '/events', { act: async (one) => { await one.locator('.events button').first().click(); } });
  await both('audit', '/audit');
  const key = (id, subject, roles, extra = {}) => ({ id, subject, roles, created_at: at(9000), ...extra });
  await page.route('**/v1/keys', (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify({ items: [key('4f2a90c1d2e3', 'ben.okafor', ['admin']), key('7cd95506da89', 'billing', ['worker'], { note: 'Nightly invoices', expires_at: new Date(Date.now() + 8e9).toISOString(), scope: { prefixes: ['billing.'] } }), key('0c5ac4d08906', 'priya.raman', ['task_worker'], { scope: { task_roles: ['underwriter'] } }), key('2e153e77f8f2', 'old-script', ['starter'], { revoked_at: at(300) })], next_cursor: null }) }));
  await both('keys', '/keys');
  await page.unroute('**/v1/keys');
  await both('system', '/system');
  await shot('unknown', '/nothing/here');
  await shot('palette', '/', { act: async (one) => { await one.keyboard.press('Control+k'); await one.keyboard.type('L-10'); await one.waitForTimeout(600); } });
  await shot('help', '/', { act: async (one) => one.keyboard.press('?') });
  await shot('home-de', '/', { language: 'de' });
  await shot('instance-de', `/instances/${ids.review[0]}`, { language: 'de', theme: 'dark' });
  await shot('bulk', '/instances?q=status:suspended', { act: async (one) => { await one.locator('thead .check').click(); await one.getByRole('button', { name: 'Retry', exact: true }).click(); await one.waitForTimeout(300); } });
  bad = faults.length;
} finally {
  await browser.close();
  await servers.close();
}
process.exit(bad ? 1 : 0);
