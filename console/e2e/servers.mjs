// A cairn with its own store, for tests and pictures. CAIRN names the program.
import { spawn, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
export const cairn = resolve(process.env.CAIRN ?? join(root, 'build/release/cairn'));

const free_port = () =>
  new Promise((done) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

async function ready(url, child) {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`cairn ended with ${child.exitCode}`);
    try {
      if ((await fetch(`${url}/readyz`)).ok) return;
    } catch {
      // not yet
    }
    await new Promise((go) => setTimeout(go, 50));
  }
  throw new Error('cairn does not get ready');
}

// auth: none (cairn dev) or key (cairn serve with API keys). base: the base path; only with keys. own: no definitions are given, so that
// cairn dev begins with its own examples. more: further flags of cairn serve, made from the server's address.
export async function open_servers({ auth = 'none', examples = true, base = '', own = false, more = () => [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-console-'));
  const port = await free_port();
  const url = `http://127.0.0.1:${port}`;
  if (examples) cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  else mkdirSync(join(folder, 'empty'));
  const store = `sqlite:${join(folder, 'cairn.db')}`;
  const keys = {};
  let child;
  const launch = async () => {
    const stdio = process.env.CAIRN_LOG ? 'inherit' : 'ignore';
    const listen = ['--listen', `127.0.0.1:${port}`, '--store', store];
    child = auth === 'none'
      ? spawn(cairn, ['dev', ...(own ? [] : [examples ? 'examples' : 'empty']), ...listen], { cwd: folder, stdio })
      : spawn(cairn, ['serve', ...listen, '--confine', 'no', '--drain-delay', '0s', ...more(url + base), ...(base ? ['--base-path', base] : []), ...(examples ? ['--deploy', join(folder, 'examples')] : [])], { cwd: folder, stdio });
    await ready(url, child);
  };
  if (auth === 'key') {
    const make = (...args) => execFileSync(cairn, ['keys', 'create', '--store', store, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    keys.admin = make('--subject', 'ben.okafor', '--role', 'admin');
    keys.viewer = make('--subject', 'vera', '--role', 'viewer');
    keys.clerk = make('--subject', 'priya.raman', '--role', 'task_worker', '--task-role', 'underwriter');
  }
  await launch();
  const stop = async () => {
    if (child.exitCode !== null) return;
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: url + base, keys, folder, launch,
    stop_cairn: stop,
    async call(method, path, body, type = 'application/json') {
      const headers = { 'content-type': type, ...(keys.admin ? { authorization: `Bearer ${keys.admin}` } : {}) };
      const response = await fetch(url + path, { method, headers, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text ? JSON.parse(text) : null;
    },
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
