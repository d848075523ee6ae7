// A cairn with its own store and a console before it, for tests and pictures. CAIRN names the program, CONSOLE_DIST a built console.
import { spawn, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start } from '../serve.mjs';

export const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, '../..');
export const cairn = resolve(process.env.CAIRN ?? join(root, 'build/release/cairn'));
export const dist = resolve(process.env.CONSOLE_DIST ?? join(here, '../dist'));

export const free_port = () =>
  new Promise((done) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

async function ready(url, child) {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`cairn ended with ${child.exitCode}`);
    try {
      if ((await fetch(`${url}/readyz`)).ok) return;
    } catch {
      // not yet
    }
    await new Promise((go) => setTimeout(go, 100));
  }
  throw new Error('cairn does not get ready');
}

// auth: none (cairn dev) or key (cairn serve with API keys).
export async function open_servers({ auth = 'none', examples = true, base = '', keep_port } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-console-'));
  const port = keep_port ?? (await free_port());
  const url = `http://127.0.0.1:${port}`;
  if (examples) cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  const store = `sqlite:${join(folder, 'cairn.db')}`;
  const keys = {};
  const names = {};
  let child;
  const launch = async () => {
    child = auth === 'none'
      ? spawn(cairn, ['dev', ...(examples ? ['examples'] : ['empty']), '--listen', `127.0.0.1:${port}`, '--store', store], { cwd: folder, stdio: 'ignore' })
      : spawn(cairn, ['serve', '--store', store, '--listen', `127.0.0.1:${port}`, '--confine', 'no', '--drain-delay', '0s', ...(examples ? ['--definitions', join(folder, 'examples')] : [])], { cwd: folder, stdio: process.env.CAIRN_LOG ? 'inherit' : 'ignore', env: { ...process.env, CAIRN_EVENTS: '' } });
    await ready(url, child);
  };
  if (!existsSync(join(folder, 'empty'))) (await import('node:fs')).mkdirSync(join(folder, 'empty'));
  if (auth === 'key') {
    const make = (...args) => {
      const key = execFileSync(cairn, ['keys', 'create', '--store', store, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split('\n').pop();
      names[key.split('_')[1]] = args[1];
      return key;
    };
    keys.admin = make('--subject', 'ben.okafor', '--role', 'admin');
    keys.viewer = make('--subject', 'vera', '--role', 'viewer');
    keys.clerk = make('--subject', 'priya.raman', '--role', 'task_worker', '--task-role', 'underwriter');
  }
  await launch();
  const front = await start({ dir: dist, upstream: url, base, names });
  const headers = () => ({ 'content-type': 'application/json', ...(keys.admin ? { authorization: `Bearer ${keys.admin}` } : {}) });
  return {
    url: front.url, api: url, keys, sessions: front.sessions, folder,
    async call(method, path, body, type = 'application/json') {
      const response = await fetch(url + path, { method, headers: { ...headers(), 'content-type': type }, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text ? JSON.parse(text) : null;
    },
    async stop_cairn() {
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await gone;
    },
    launch,
    async close() {
      front.server.closeAllConnections();
      front.server.close();
      if (child.exitCode === null) {
        const gone = new Promise((done) => child.once('exit', done));
        child.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
