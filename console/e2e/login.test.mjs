// Signing in at an OpenID Connect provider, which this file plays.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { open_browser, open_page } from './browser.mjs';
import { settled } from './pages.mjs';
import { open_servers } from './servers.mjs';

let servers, browser, provider, folder;
let refuses = false; // the user says no
const keys = generateKeyPairSync('ed25519');
const coded = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const open_requests = new Map(); // code → what the browser asked for

function id_token(nonce) {
  const text = `${coded({ alg: 'EdDSA', kid: 'k1' })}.${coded({ iss: 'https://id.example', aud: 'console', sub: 'priya-1', email: 'priya.raman', roles: ['cairn:operator'], nonce, exp: Math.floor(Date.now() / 1000) + 60 })}`;
  return `${text}.${sign(null, Buffer.from(text), keys.privateKey).toString('base64url')}`;
}

function answer(request, response) {
  const url = new URL(request.url, 'https://x');
  if (url.pathname === '/keys') return response.end(JSON.stringify({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1' }] }));
  if (url.pathname === '/authorize') {
    const code = `code-${open_requests.size}`;
    open_requests.set(code, url.searchParams);
    const back = new URL(url.searchParams.get('redirect_uri'));
    back.search = new URLSearchParams({ ...(refuses ? { error: 'access_denied' } : { code }), state: url.searchParams.get('state'), session_state: 'x', iss: 'https://id.example' }).toString();
    // A page with a link, as of a provider that asks for a password.
    response.setHeader('content-type', 'text/html');
    return response.end(`<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,"><a href="${back.href.replaceAll('&', '&amp;')}">I am Priya</a></html>`);
  }
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    const form = new URLSearchParams(body);
    const asked = open_requests.get(form.get('code'));
    const proven = asked && createHash('sha256').update(form.get('code_verifier')).digest('base64url') === asked.get('code_challenge');
    open_requests.delete(form.get('code'));
    response.writeHead(proven ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(proven ? { id_token: id_token(asked.get('nonce')) } : { error: 'invalid_grant' }));
  });
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-provider-'));
  const [certificate, key] = [join(folder, 'c.pem'), join(folder, 'k.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=provider', '-addext', 'subjectAltName=IP:127.0.0.1', '-out', certificate, '-keyout', key], { stdio: 'ignore' });
  provider = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, answer);
  await new Promise((done) => provider.listen(0, '127.0.0.1', done));
  const place = `https://127.0.0.1:${provider.address().port}`;
  servers = await open_servers({
    auth: 'key',
    base: '/flow',
    more: (url) => ['--ca-file', certificate, '--oidc-issuer', 'https://id.example', '--oidc-audience', 'cairn', '--oidc-jwks', `${place}/keys`, '--oidc-person-claim', 'email', '--oidc-client-id', 'console',
      '--oidc-authorize-url', `${place}/authorize`, '--oidc-token-url', `${place}/token`, '--oidc-redirect-url', `${url}/sign-in`],
  });
  browser = await open_browser();
}, { timeout: 120000 });
after(async () => {
  await browser?.close();
  await servers?.close();
  provider?.closeAllConnections();
  provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('sign in with an account and come back to the page', { timeout: 120000 }, async () => {
  const { page, faults } = await open_page(browser.context);
  await page.goto(`${servers.url}/definitions?x=1`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.getByRole('link', { name: 'I am Priya' }).click();
  await page.locator('h1', { hasText: 'Definitions' }).waitFor();
  assert.equal(page.url(), `${servers.url}/definitions?x=1`, 'the code is not in the address');
  await settled(page);
  const cookies = await browser.context.cookies(servers.url);
  assert.deepEqual(cookies.map((one) => [one.name, one.httpOnly, one.sameSite]), [['cairn_session', true, 'Strict']]);
  await page.reload();
  await page.locator('h1', { hasText: 'Definitions' }).waitFor();
  await page.getByRole('button', { name: /Account of priya.raman/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.locator('h1', { hasText: 'Sign in' }).waitFor();

  refuses = true;
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.getByRole('link', { name: 'I am Priya' }).click();
  await page.getByText('Your account was not accepted').waitFor();
  assert.deepEqual(faults, []);
  await page.close();
});
