// Chromium under watch: a console error, a violation of the policy or a failed request is a failure.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export async function open_browser() {
  const profile = mkdtempSync(join(tmpdir(), 'cairn-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    viewport: { width: 1440, height: 900 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
    ignoreHTTPSErrors: true, // the provider of the sign-in test has a certificate of its own
    locale: 'en-GB',
    timezoneId: 'Europe/Zurich',
    reducedMotion: 'reduce', // colours in the middle of a transition would be judged
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(Number(process.env.E2E_TIMEOUT ?? 20000));
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// allowed: texts of messages that a test expects (a refused sign-in, a stopped server).
export async function open_page(context, { allowed = [] } = {}) {
  const page = await context.newPage();
  const faults = [];
  const fault = (text) => {
    if (!allowed.some((one) => one.test(text))) faults.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') fault(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => fault(`page error: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') fault(`request failed: ${request.url()} ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) fault(`answer ${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
  });
  return { page, faults };
}
