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

for (const theme of ['light', 'dark']) {
  for (const width of [1440, 360]) {
    test(`every page, ${theme}, ${width} px`, { timeout: 600000 }, async () => {
      const { page, faults } = await open_page(browser.context);
      await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
      await page.goto(servers.url);
      await page.evaluate((one) => localStorage.setItem('cairn.theme', JSON.stringify(one)), theme);
      const found = [];
      for (const [name, path] of pages(ids)) {
        await page.goto(servers.url + path);
        await settled(page);
        await page.waitForTimeout(250);
        for (const one of await check(page)) found.push(`${name}: ${one}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) found.push(`${name}: ${wide} px too wide`);
      }
      if (width === 1440) {
        for (const [name, act] of [
          ['palette', async () => page.keyboard.press('Control+k')],
          ['help', async () => page.keyboard.press('?')],
        ]) {
          await page.goto(servers.url);
          await settled(page);
          await act();
          await page.locator('dialog[open]').waitFor();
          await page.waitForTimeout(200);
          for (const one of await check(page)) found.push(`${name}: ${one}`);
        }
        await page.goto(`${servers.url}/instances/${ids.suspended[0]}`);
        await settled(page);
        await page.keyboard.press('e');
        await page.locator('.cm-content').waitFor();
        for (const one of await check(page)) found.push(`edit state: ${one}`);
      }
      await page.close();
      assert.deepEqual(found, []);
      assert.deepEqual(faults, []);
    });
  }
}
