// Serves a built console for development and tests, with the headers that the server will send, and passes the API to a running cairn:
//   node serve.mjs --dir dist --upstream http://127.0.0.1:8400 --listen 127.0.0.1:8470 [--base-path /cairn]
// It emulates /v1/session until the server has it: the cookie stands for an API key that only this process knows.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, request as http_request } from 'node:http';
import { join, resolve } from 'node:path';

export const page_headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

const permissions_all = ['view', 'view_tasks', 'work_tasks', 'start', 'operate', 'deploy', 'administer', 'report_runs', 'work_runs'];
const passed = ['/v1/', '/metrics', '/healthz', '/livez', '/readyz', '/problems', '/openapi.json'];

// names: whose key has which id, for keys that may not list keys.
export function start({ dir, upstream, port = 0, host = '127.0.0.1', base = '', names = {} }) {
  const target = new URL(upstream);
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'));
  const files = new Map(manifest.files.map((file) => [file.path, { ...file, packed: readFileSync(join(dir, file.gzip)), plain: readFileSync(join(dir, file.path)) }]));
  const index = files.get(manifest.index);
  // Behind a base path the page names its files below it. The scripts learn the base path from their own address.
  const index_text = index.plain.toString('utf8').replaceAll('="/assets/', `="${base}/assets/`);
  const sessions = new Map();

  const ask = (method, path, headers = {}, body) =>
    new Promise((done, failed) => {
      const out = http_request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => done({ status: answer.statusCode, text: Buffer.concat(parts).toString('utf8') }));
      });
      out.on('error', failed);
      out.end(body);
    });
  const json = (response, status, value, headers = {}) => {
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json', 'cache-control': 'no-store', ...headers });
    response.end(JSON.stringify(value));
  };

  // Who a key belongs to and what it may do, found out by asking: a refused permission is 403, anything else is not.
  async function examine(key) {
    const bearer = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const probes = [
      ['view', 'GET', '/v1/info'], ['view_tasks', 'GET', '/v1/tasks?limit=1'], ['administer', 'GET', '/v1/keys'],
      ['start', 'POST', '/v1/instances', '{}'], ['operate', 'POST', '/v1/bulk', '{}'], ['work_tasks', 'POST', '/v1/tasks/none/assign', '{}'],
      ['deploy', 'POST', '/v1/definitions?dry_run=true', '{}'],
    ];
    const answers = await Promise.all(probes.map(([, method, path, body]) => ask(method, path, bearer, body)));
    if (answers.every((answer) => answer.status === 401)) return null;
    const permissions = probes.filter((_, at) => answers[at].status !== 403 && answers[at].status !== 401).map(([name]) => name);
    const id = key.split('_')[1] ?? 'key';
    const own = permissions.includes('administer') ? JSON.parse(answers[2].text).items.find((one) => one.id === id) : undefined;
    return { user: own?.subject ?? names[id] ?? id, roles: own?.roles ?? [], permissions, auth: 'key' };
  }

  async function session(request, response, own) {
    if (request.method === 'GET') {
      if (own) return json(response, 200, own.about);
      const open = await ask('GET', '/v1/info');
      if (open.status === 200) {
        const about = { user: 'anonymous', roles: ['admin'], permissions: permissions_all, csrf: randomBytes(16).toString('hex'), auth: 'none' };
        return json(response, 200, about, cookie(keep({ about })));
      }
      return json(response, 401, { type: '/problems/unauthenticated', title: 'Sign in first', status: 401 });
    }
    if (request.method === 'DELETE') {
      if (own) sessions.delete(own.id);
      response.writeHead(204, { 'set-cookie': `cairn_session=; Path=${base || '/'}; Max-Age=0; HttpOnly; SameSite=Strict` });
      return response.end();
    }
    const { api_key } = JSON.parse((await read(request)) || '{}');
    const found = typeof api_key === 'string' ? await examine(api_key.trim()) : null;
    if (!found) return json(response, 401, { type: '/problems/unauthenticated', title: 'The key is not known', status: 401, detail: 'Unknown, revoked or expired.' });
    const about = { ...found, csrf: randomBytes(16).toString('hex') };
    return json(response, 200, about, cookie(keep({ about, key: api_key.trim() })));
  }
  const keep = (value) => {
    const id = randomBytes(24).toString('hex');
    sessions.set(id, { ...value, id });
    return id;
  };
  const cookie = (id) => ({ 'set-cookie': `cairn_session=${id}; Path=${base || '/'}; HttpOnly; SameSite=Strict` });
  const read = (request) =>
    new Promise((done) => {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => done(Buffer.concat(parts).toString('utf8')));
    });

  function pass(request, response, path, own) {
    const headers = { ...request.headers, host: target.host };
    for (const name of ['origin', 'referer', 'cookie', 'x-cairn-csrf', 'authorization', 'connection']) delete headers[name];
    if (own?.key) headers.authorization = `Bearer ${own.key}`;
    const out = http_request({ host: target.hostname, port: target.port, method: request.method, path, headers }, (answer) => {
      const sent = { ...answer.headers };
      delete sent.connection;
      response.writeHead(answer.statusCode, sent);
      response.flushHeaders(); // an event stream begins with its headers, long before its first event
      answer.pipe(response);
    });
    out.on('error', () => {
      if (!response.headersSent) json(response, 502, { type: '/problems/away', title: 'The server does not answer', status: 502 });
      else response.destroy();
    });
    response.on('close', () => out.destroy());
    request.pipe(out);
  }

  const server = createServer(async (request, response) => {
    try {
      const url = new URL(request.url, 'http://x');
      if (base && url.pathname !== base && !url.pathname.startsWith(`${base}/`)) {
        response.writeHead(404);
        return response.end();
      }
      const path = url.pathname.slice(base.length) || '/';
      const id = /(?:^|;\s*)cairn_session=([0-9a-f]+)/.exec(request.headers.cookie ?? '')?.[1];
      const own = id ? sessions.get(id) : undefined;
      if (path === '/v1/session') return await session(request, response, own);
      if (passed.some((one) => path.startsWith(one))) {
        const changing = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
        if (changing && own && request.headers['x-cairn-csrf'] !== own.about.csrf) {
          return json(response, 403, { type: '/problems/csrf', title: 'The request does not come from the console', status: 403 });
        }
        return pass(request, response, path + url.search, own);
      }
      const file = files.get(path);
      if (file && file !== index) {
        if (request.headers['if-none-match'] === file.etag) {
          response.writeHead(304, page_headers);
          return response.end();
        }
        const packed = /gzip/.test(request.headers['accept-encoding'] ?? '');
        response.writeHead(200, {
          ...page_headers, 'content-type': file.type, etag: file.etag, vary: 'accept-encoding',
          'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache', ...(packed ? { 'content-encoding': 'gzip' } : {}),
        });
        return response.end(packed ? file.packed : file.plain);
      }
      if (path.startsWith('/assets/')) {
        response.writeHead(404, page_headers);
        return response.end();
      }
      response.writeHead(200, { ...page_headers, 'content-type': index.type, 'cache-control': 'no-cache' });
      return response.end(index_text);
    } catch (error) {
      if (!response.headersSent) json(response, 502, { type: '/problems/away', title: 'The server does not answer', status: 502, detail: String(error.message) });
    }
  });
  return new Promise((done) => server.listen(port, host, () => done({ server, sessions, url: `http://${host}:${server.address().port}${base}` })));
}

if (process.argv[1] && resolve(process.argv[1]) === new URL(import.meta.url).pathname) {
  const argument = (name, fallback) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? fallback : process.argv[at + 1];
  };
  const [host, port] = argument('--listen', '127.0.0.1:8470').split(':');
  const { url } = await start({ dir: resolve(argument('--dir', 'dist')), upstream: argument('--upstream', 'http://127.0.0.1:8400'), host, port: Number(port), base: argument('--base-path', '') });
  console.log(`console at ${url}/`);
}
