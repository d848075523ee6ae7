// Every page in both themes, wide and narrow: no accessibility fault (WCAG 2.2 A and AA), nothing cut off.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { pages, settled } from './pages.mjs';
import { seed } from './seed.mjs';
import { open_servers } from './servers.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
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

const check = async (page) => {
  // The policy forbids foreign scripts in the page; the debugger may still run one.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] });
    return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`);
  });
};

// Dialogs, and the editor in its shadow root.
const check_dialogs = async (page, found) => {
  for (const [name, key] of [['palette', 'Control+k'], ['help', '?']]) {
    await page.goto(servers.url);
    await settled(page);
    await page.keyboard.press(key);
    await page.locator('dialog[open]').waitFor();
    for (const one of await check(page)) found.push(`${name}: ${one}`);
  }
  await page.goto(`${servers.url}/instances/${ids.suspended[0]}`);
  await settled(page);
  await page.keyboard.press('e');
  await page.locator('.cm-content').waitFor();
  for (const one of await check(page)) found.push(`edit state: ${one}`);
};
const check_page = async (page, name, found) => {
  for (const one of await check(page)) found.push(`${name}: ${one}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) found.push(`${name}: ${wide} px too wide`);
};
const wide = { width: 1440, height: 900 };
const narrow = { width: 360, height: 740 };
const set_theme = (page, theme) => page.evaluate((one) => (document.documentElement.dataset.theme = one), theme);

// Each page is loaded once and looked at twice. CONSOLE_LOOKS=all loads it in both themes and both widths.
if (process.env.CONSOLE_LOOKS !== 'all') {
  test('every page, light and wide, then dark and narrow', { timeout: 600000 }, async () => {
    const { page, faults } = await open_page(browser.context);
    const found = [];
    for (const [name, path] of pages(ids)) {
      await page.setViewportSize(wide);
      await page.goto(servers.url + path);
      await settled(page);
      await set_theme(page, 'light');
      await check_page(page, `${name}, light`, found);
      await page.setViewportSize(narrow);
      await set_theme(page, 'dark');
      await settled(page);
      await check_page(page, `${name}, dark, narrow`, found);
    }
    await page.setViewportSize(wide);
    await check_dialogs(page, found);
    await page.close();
    assert.deepEqual(found, []);
    assert.deepEqual(faults, []);
  });
} else {
  for (const theme of ['light', 'dark']) {
    for (const size of [wide, narrow]) {
      test(`every page, ${theme}, ${size.width} px`, { timeout: 600000 }, async () => {
        const { page, faults } = await open_page(browser.context);
        await page.setViewportSize(size);
        await page.goto(servers.url);
        await page.evaluate((one) => localStorage.setItem('cairn.theme', JSON.stringify(one)), theme);
        const found = [];
        for (const [name, path] of pages(ids)) {
          await page.goto(servers.url + path);
          await settled(page);
          await check_page(page, name, found);
        }
        if (size === wide) await check_dialogs(page, found);
        await page.close();
        assert.deepEqual(found, []);
        assert.deepEqual(faults, []);
      });
    }
  }
}
