// Workers for cairn in JavaScript and TypeScript: one module without dependencies, Node 18 or newer. The types are in
// cairn-worker.d.mts.
//
//   import { Worker, BusinessError } from './cairn-worker.mjs';
//
//   const worker = new Worker('http://127.0.0.1:8400', { concurrency: 16 });
//   worker.handle('billing.charge.v1', async (run) => bank.charge(run.payload.amount, { key: run.idempotencyKey }));
//   await worker.run();      // until SIGINT or SIGTERM, then finishes the running handlers
//
// A handler returns the result. To fail, it throws: BusinessError for a decision that a retry cannot change, RetryLater
// with a delay, or any other error, which is retried while attempts are left. The worker keeps the lease alive while a
// handler runs; `run.signal` is aborted if the run is cancelled or its lease is lost.

import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { hostname } from 'node:os';

export class RunError extends Error {
  constructor(code, message = '', { details = null, retry = true, delayMs, errorClass = 'transport' } = {}) {
    super(message || code);
    this.name = new.target.name;
    this.code = code;
    this.text = message;
    this.details = details;
    this.retry = retry;
    this.delayMs = delayMs;
    this.errorClass = errorClass;
  }
}

export class BusinessError extends RunError {
  constructor(code, message = '', details = null) {
    super(code, message, { details, retry: false, errorClass: 'business' });
  }
}

export class RetryLater extends RunError {
  constructor(delayMs, { code = 'retry_later', message = '', details = null } = {}) {
    super(code, message, { details, delayMs });
  }
}

export class Cancelled extends Error {
  constructor(id) {
    super(`run ${id} was cancelled or its lease is lost`);
    this.name = 'Cancelled';
  }
}

export class Problem extends Error {
  constructor(status, document) {
    super(`${status} ${document.title ?? ''}: ${document.detail ?? ''}`);
    this.name = new.target.name;
    this.status = status;
    this.type = String(document.type ?? '').split('/').pop();
    this.document = document;
  }
}
export class LeaseLost extends Problem {}

export class ConnectionFailed extends Error {
  constructor(url, cause) {
    super(`${url}: ${cause?.cause?.message ?? cause?.message ?? cause}`, { cause });
    this.name = 'ConnectionFailed';
  }
}

// Uses node:http instead of fetch: half the CPU time per request, and unmodified answers.
export class Client {
  #url;
  #token;
  #send;
  #options;
  #path;
  constructor(url, { token = process.env.CAIRN_TOKEN } = {}) {
    const at = new URL(url);
    this.#url = String(at).replace(/\/$/, '');
    this.#token = token;
    this.#path = at.pathname.replace(/\/$/, '');
    const { Agent, request } = at.protocol === 'https:' ? https : http;
    this.#send = request;
    // Close an idle connection before the server does, so that no request meets a closing connection.
    const agent = new Agent({ keepAlive: true, timeout: 60_000 });
    this.#options = { agent, host: at.hostname.replace(/^\[|\]$/g, ''), ...(at.port ? { port: at.port } : {}) };
  }

  // `text` is a body of JSON text. Aborting `ending` closes the sending half: the server sees that the request has
  // ended, and what it has sent already still arrives.
  async call(method, path, body, { signal, ending, text: written, timeoutMs = 30_000 } = {}) {
    const data = written ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = { accept: 'application/json' };
    if (data !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(data);
    }
    if (this.#token) headers.authorization = `Bearer ${this.#token}`;
    let answer;
    try {
      answer = await this.#exchange({ ...this.#options, method, path: this.#path + path, headers }, data, signal, ending, timeoutMs);
    } catch (failure) {
      throw new ConnectionFailed(this.#url, failure);
    }
    const { status, text } = answer;
    let document = null;
    try {
      document = text ? JSON.parse(text) : null;
    } catch {
      document = { detail: text.slice(0, 200) };
    }
    if (status >= 400) {
      const problem = document && typeof document === 'object' ? document : {};
      const Kind = String(problem.type ?? '').endsWith('/lease_lost') ? LeaseLost : Problem;
      throw new Kind(status, problem);
    }
    return document;
  }

  #exchange(options, data, signal, ending, timeoutMs) {
    return new Promise((resolve, reject) => {
      const request = this.#send(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece) => (text += piece));
        response.on('error', fail);
        response.on('end', () => {
          over();
          resolve({ status: response.statusCode, text });
        });
      });
      const stop = () => request.destroy(new Error('it was given up'));
      const lapse = (ms) => setTimeout(() => request.destroy(new Error(`no answer within ${ms} ms`)), ms);
      let timer = lapse(timeoutMs);
      const end = () => {
        const { socket } = request;
        if (!socket || socket.connecting) return stop();
        clearTimeout(timer);
        timer = lapse(pollEndMaxMs);
        if (request.writableFinished) socket.end();
        else request.once('finish', () => socket.end());
      };
      function over() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        ending?.removeEventListener('abort', end);
      }
      function fail(failure) {
        over();
        reject(failure);
      }
      request.on('error', fail);
      signal?.addEventListener('abort', stop, { once: true });
      ending?.addEventListener('abort', end, { once: true });
      if (signal?.aborted || ending?.aborted) stop();
      request.end(data);
    });
  }

  // Without a key it creates one, so that a request repeated after a lost answer creates only one run.
  submit(type, payload = null, options = {}) {
    return this.#repeated('/v1/runs', keyed({ ...options, type, payload }));
  }
  async submitMany(runs) {
    return (await this.#repeated('/v1/runs/batch', { runs: runs.map(keyed) }, { timeoutMs: 120_000 })).items;
  }
  // The server may have closed an idle connection. One retry on a new connection tells this from an outage.
  async #repeated(path, body, options) {
    try {
      return await this.call('POST', path, body, options);
    } catch (failure) {
      if (!(failure instanceof ConnectionFailed) || !closedCodes.has(failure.cause?.code)) throw failure;
      return this.call('POST', path, body, options);
    }
  }
  get(id) {
    return this.call('GET', `/v1/runs/${encodeURIComponent(id)}`);
  }
  cancel(id) {
    return this.call('POST', `/v1/runs/${encodeURIComponent(id)}/cancel`);
  }
}

const closedCodes = new Set(['ECONNRESET', 'EPIPE']);
const keyed = (run) => (run.idempotency_key ? run : { ...run, idempotency_key: randomUUID() });

// One attempt of a run, as a handler receives it.
export class Run {
  #abort = null; // created on demand: most handlers never use it
  #over = false;
  constructor(document) {
    this.id = document.id;
    this.type = document.type;
    this.payload = document.payload;
    this.idempotencyKey = document.idempotency_key ?? document.id;
    this.attempt = document.attempt;
    this.maxAttempts = document.max_attempts;
    this.instance = document.instance;
    this.traceparent = document.traceparent;
    this.fence = document.fence;
    this.leaseMs = document.lease_ms;
    this.extend(document.lease_ms);
  }
  // Extends the lease from now on; a heartbeat is due after a third of it.
  extend(ms) {
    this.leaseEnds = performance.now() + ms;
    this.beatAt = performance.now() + ms / 3;
  }
  get signal() {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#over) this.#abort.abort(new Cancelled(this.id));
    }
    return this.#abort.signal;
  }
  get cancelled() {
    return this.#over;
  }
  // Throws if the result will not be used.
  check() {
    if (this.cancelled) throw new Cancelled(this.id);
  }
  abandon() {
    this.beatAt = Infinity;
    this.#over = true;
    this.#abort?.abort(new Cancelled(this.id));
  }
}

const reportsMax = 1000; // in one request
const reportBytesMax = 1 << 20; // in one request, unless a single report is larger
// A heartbeat without an answer after a sixth of the lease is sent again on another connection.
const heartbeatsMax = 1000;
const heartbeatTimeoutMinMs = 500;
// The server answers a cancelled poll at once, unless it is unreachable.
const pollEndMaxMs = 5_000;
// If the connection breaks this often for a large report, while heartbeats succeed, the server does not accept it.
const brokenMax = 5;
// The server refuses these requests permanently. Others may succeed later: 401 and 403 after a change of keys, 429 and
// 5xx after the server has recovered.
const refused = new Set([400, 413, 422]);
// The parts of a failure that are reported again if the server refuses the whole. Lengths are in UTF-16 units.
const classes = new Set(['transport', 'timeout', 'authorization', 'consistency', 'business']);
const codeMax = 200;
const messageMax = 2000;
const shortMessageMax = 200;
const delayMaxMs = 3650 * 86_400_000;
const unreportedMax = 4; // times the concurrency
// Polls that wait at the server at the same time. A run written while a poll waits starts out leased and needs no extra
// commit. With a single poll, no poll would wait while its answer is in transit.
const questionsMax = 4;
// Concurrent requests with reports. A finished run need not wait until the server has synced the previous reports.
const reportersMax = 2;

const noText = 'an error without a text';
// A text that every server takes: lone surrogates and U+0000 cannot be stored. `read` may throw, or give a value without
// a text. The cut splits no character.
function safeText(read, length = Infinity) {
  let text;
  try {
    text = String(read());
  } catch {
    text = noText;
  }
  if (text.length > length) text = text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
  return text.replace(/[\p{Surrogate}\0]/gu, '\ufffd');
}

const pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done, { once: true });
  });

// Leases runs of the types it has handlers for and runs up to `concurrency` handlers at once.
// The prefixes of the environment, or undefined. A value may be written as in SQL: `billing.%`.
function prefixesOfEnvironment() {
  for (const name of ['CAIRN_WORKER_TYPE_PREFIXES', 'WORKER_TYPE_PREFIXES']) {
    const parts = (process.env[name] ?? '').split(',').map((part) => part.trim().replace(/%+$/, ''));
    const prefixes = parts.filter((prefix) => prefix);
    if (prefixes.length) return prefixes;
  }
  return undefined;
}

export class Worker {
  #client;
  #polls; // a separate client: its connections are half closed when the worker stops
  #options;
  #handlers = new Map();
  #active = new Map();
  #working = 0; // running handlers; the other active runs only wait for their report
  #wanted = 0; // runs requested by all polls that wait at the server
  #questions = 0;
  #reports = [];
  #reporting = 0;
  #stopping = new AbortController();
  #halted = new AbortController();
  #waitsForRoom = [];
  #idle = [];
  #loop = null;
  #beat = null;
  #wakeBeat = null;
  #beatAt = Infinity; // when heartbeats are checked next

  constructor(url, { concurrency = 16, name = hostname(), leaseMs = 30_000, pollMs = 20_000, token, prefixes, onWarning } = {}) {
    this.#client = new Client(url, token === undefined ? {} : { token });
    this.#polls = new Client(url, token === undefined ? {} : { token });
    // The name has a random part, so that a restarted worker does not own the leases of its predecessor.
    this.name = `${name}-${randomBytes(4).toString('hex')}`;
    this.#options = { concurrency, leaseMs, pollMs, prefixes: prefixes ?? prefixesOfEnvironment(), onWarning: onWarning ?? ((text) => console.warn(`cairn worker: ${text}`)) };
  }

  // Handles runs of this type. A type that ends with a dot is a prefix; `*` handles every type.
  handle(type, handler) {
    this.#handlers.set(type, handler);
    return this;
  }

  // What to lease: the exact types of the handlers, and prefixes for handlers that end with a dot. Other types are left
  // to other workers. With explicit prefixes, a run without a handler fails as no_handler_registered. A worker whose only
  // handler is `*` names no types: without prefixes it leases `default.`.
  #types() {
    if (this.#options.prefixes) return { prefixes: this.#options.prefixes };
    const names = [...this.#handlers.keys()];
    const types = names.filter((name) => name !== '*' && !name.endsWith('.'));
    const prefixes = names.filter((name) => name.endsWith('.'));
    if (!types.length && !prefixes.length) return { prefixes: ['default.'] };
    return { ...(types.length ? { types } : {}), ...(prefixes.length ? { prefixes } : {}) };
  }

  #find(type) {
    const exact = this.#handlers.get(type);
    if (exact) return exact;
    const fitting = [...this.#handlers.keys()].filter((name) => name.endsWith('.') && type.startsWith(name));
    return this.#handlers.get(fitting.sort((a, b) => b.length - a.length)[0] ?? '*');
  }

  start() {
    if (!this.#handlers.size && !this.#options.prefixes) throw new Error('a worker needs at least one handler');
    const askers = Math.min(questionsMax, this.#options.concurrency);
    this.#loop = Promise.all(Array.from({ length: askers }, () => this.#lease()));
    this.#beat = this.#keepAlive();
    return this;
  }

  // Works until SIGINT or SIGTERM, then finishes the running handlers.
  async run() {
    const asked = new Promise((resolve) => {
      for (const name of ['SIGINT', 'SIGTERM']) process.once(name, resolve);
    });
    this.start();
    await asked;
    await this.stop();
  }

  // Leases nothing new and waits up to `graceMs` for handlers.
  async stop(graceMs = 30_000) {
    this.#stopping.abort();
    this.#makeRoom();
    await this.#loop;
    if (this.#active.size) {
      // The timer must not outlive the wait, or it would keep the process alive.
      const over = new AbortController();
      await Promise.race([new Promise((resolve) => this.#idle.push(resolve)), pause(graceMs, over.signal)]);
      over.abort();
    }
    this.#halted.abort();
    this.#wakeBeat?.();
    await this.#beat;
  }

  // How many runs one more poll may request: its share of the room, so that later polls get theirs.
  #room() {
    const { concurrency } = this.#options;
    // Finished but unreported runs do not occupy a handler, up to a bound.
    const free = Math.min(concurrency - this.#working, concurrency * unreportedMax - this.#active.size) - this.#wanted;
    const others = Math.max(0, Math.min(questionsMax, concurrency) - this.#questions - 1);
    return Math.min(Math.ceil(free / (others + 1)), 1000);
  }

  async #lease() {
    const { leaseMs, pollMs } = this.#options;
    let delay = 100;
    while (!this.#stopping.signal.aborted) {
      const max = this.#room();
      if (max <= 0) {
        await new Promise((resolve) => this.#waitsForRoom.push(resolve));
        continue;
      }
      let items;
      this.#wanted += max;
      ++this.#questions;
      try {
        const asked = { worker: this.name, max, wait: `${pollMs}ms`, lease: `${leaseMs}ms`, ...this.#types() };
        const answer = await this.#polls.call('POST', '/v1/runs/lease', asked, { ending: this.#stopping.signal, timeoutMs: pollMs + 15_000 });
        items = answer.items;
        delay = 100;
      } catch (failure) {
        if (this.#stopping.signal.aborted) return;
        this.#options.onWarning(`cannot lease runs now: ${failure.message}`);
        // The server may be restarting: random delays keep its workers from retrying all at once.
        await pause(delay * (1 + Math.random()), this.#stopping.signal);
        delay = Math.min(delay * 2, 10_000);
        continue;
      } finally {
        this.#wanted -= max;
        --this.#questions;
      }
      // Runs leased while the worker stopped have not started: release them.
      if (this.#stopping.signal.aborted) return this.#release(items);
      let soonest = Infinity;
      for (const item of items) {
        const run = new Run(item);
        this.#active.set(run.id, run);
        soonest = Math.min(soonest, run.beatAt);
        ++this.#working;
        void this.#execute(run).catch(() => this.#forget(run));
      }
      // One of them may have a shorter lease than all others.
      if (soonest < this.#beatAt) this.#wakeBeat?.();
    }
  }

  async #release(items) {
    if (!items.length) return;
    const runs = items.map(({ id, fence }) => ({ id, fence }));
    try {
      const answer = await this.#client.call('POST', '/v1/runs/release', { worker: this.name, runs });
      for (const item of answer.items) if (item.outcome === 'error') this.#options.onWarning(`run ${item.id} could not be released: ${item.error}`);
    } catch (failure) {
      this.#options.onWarning(`${items.length} runs could not be released: ${failure.message}`);
    }
  }

  async #execute(run) {
    let report, brief;
    try {
      [report, brief] = await this.#reportOf(run);
    } catch {
      // An error that cannot even be looked at.
      report = JSON.stringify({ id: run.id, fence: run.fence, error: { class: 'transport', code: 'Error', message: noText } });
    } finally {
      --this.#working;
      this.#makeRoom();
    }
    if (report === undefined || run.cancelled) return this.#forget(run);
    this.#reports.push([run, report, brief]);
    if (this.#reporting < reportersMax && this.#reports.length === 1) void this.#report();
  }

  // The report of this attempt, as JSON; nothing if the result will not be used. Every error and every return value
  // becomes a report: a value that JSON cannot hold is a failed attempt. The second value is a failure's brief report,
  // for a server that refuses the whole.
  async #reportOf(run) {
    const { id, fence } = run;
    const base = { id, fence };
    try {
      try {
        const handler = this.#find(run.type);
        if (!handler) throw new RunError('no_handler_registered', '', { retry: false });
        const result = await handler(run);
        // Values that JSON omits, such as a function or `undefined`, become null.
        return [`{"id":${JSON.stringify(id)},"fence":${fence},"result":${JSON.stringify(result) ?? 'null'}}`];
      } catch (failure) {
        if (!(failure instanceof RunError)) throw failure;
        base.retry = Boolean(failure.retry);
        const { delayMs } = failure;
        if (typeof delayMs === 'number' && !Number.isNaN(delayMs)) base.delay = `${Math.round(Math.min(Math.max(0, delayMs), delayMaxMs))}ms`;
        const error = { class: classes.has(failure.errorClass) ? failure.errorClass : 'transport', code: safeText(() => failure.code, codeMax) };
        const whole = { ...base, error: { ...error, message: safeText(() => failure.text), details: failure.details } };
        const brief = { ...base, error: { ...error, message: safeText(() => failure.text, shortMessageMax) } };
        return [JSON.stringify(whole), JSON.stringify(brief)];
      }
    } catch (failure) {
      if (failure instanceof Cancelled) return [];
      const code = safeText(() => failure?.name ?? 'Error', codeMax);
      const message = safeText(() => failure?.message ?? failure, messageMax);
      return [JSON.stringify({ ...base, error: { class: 'transport', code, message } })];
    }
  }

  // Runs that finish while a request is in flight are reported together in the next request.
  async #report() {
    ++this.#reporting;
    // Runs that finish in this turn of the event loop belong to it.
    await new Promise(setImmediate);
    while (this.#reports.length) {
      let bytes = 0;
      let count = 0;
      while (count < Math.min(this.#reports.length, reportsMax) && (count === 0 || bytes + this.#reports[count][1].length <= reportBytesMax)) bytes += this.#reports[count++][1].length;
      const batch = this.#reports.splice(0, count);
      try {
        await this.#send(batch);
      } catch (failure) {
        this.#options.onWarning(`reports are lost: ${failure?.message ?? failure}`);
      }
      for (const [run] of batch) this.#forget(run);
    }
    --this.#reporting;
  }

  // Sends the reports again until their leases have expired, so that a short outage does not lose finished work.
  async #send(batch, final = false) {
    const leaseEnds = Math.max(...batch.map(([run]) => run.leaseEnds));
    let delay = 100;
    let broken = 0;
    while (batch.length) {
      try {
        const text = `{"worker":${JSON.stringify(this.name)},"reports":[${batch.map(([, report]) => report).join(',')}]}`;
        const answer = await this.#client.call('POST', '/v1/runs/report', undefined, { text });
        batch = this.#unreported(batch, answer.items);
        if (!batch.length) return;
      } catch (failure) {
        this.#options.onWarning(`reports will be sent again: ${failure.message}`);
        if (failure instanceof Problem) {
          if (refused.has(failure.status)) return this.#sendRefused(batch, failure, final);
        } else {
          const [run, report] = batch[0];
          if (++broken >= brokenMax && batch.length === 1 && run.leaseEnds > leaseEnds && report.length > reportBytesMax) {
            return this.#sendRefused(batch, new Problem(413, { detail: failure.message }), final);
          }
        }
      }
      await pause(delay);
      delay = Math.min(delay * 2, 2_000);
      batch = batch.filter(([run]) => performance.now() < run.leaseEnds && !this.#halted.signal.aborted);
    }
  }

  // The reports that the server could not accept now.
  #unreported(batch, items) {
    const outcomes = new Map(items.map((item) => [item.id, item]));
    return batch.filter(([run]) => {
      const item = outcomes.get(run.id);
      if (item?.outcome === 'lease_lost') this.#options.onWarning(`run ${run.id}: the lease was lost, the result is not used`);
      if (item?.outcome !== 'error') return false;
      this.#options.onWarning(`run ${run.id} could not be reported: ${item.error}`);
      return item.retryable === true;
    });
  }

  // One bad report must not affect the others. A refused failure is reported again without its details. A refused result
  // fails its run: a retry would end the same way.
  async #sendRefused(batch, failure, final) {
    if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.#send(batch.slice(0, middle));
      return this.#send(batch.slice(middle));
    }
    const [run, report, brief] = batch[0];
    this.#options.onWarning(`run ${run.id}: its report was refused: ${failure.message}`);
    if (final) return;
    if (brief !== undefined) return this.#send([[run, brief]]);
    const code = failure.status === 413 ? 'result_too_large' : 'report_refused';
    const message = `the server refused a report of ${Buffer.byteLength(report)} bytes: ${safeText(() => failure.message, 1000)}`;
    const told = { id: run.id, fence: run.fence, error: { class: 'transport', code, message }, retry: false };
    return this.#send([[run, JSON.stringify(told)]], true);
  }

  #forget(run) {
    if (this.#active.get(run.id) === run) this.#active.delete(run.id);
    this.#makeRoom();
    if (!this.#active.size) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #makeRoom() {
    for (const resolve of this.#waitsForRoom.splice(0)) resolve();
  }

  async #keepAlive() {
    while (!this.#halted.signal.aborted) {
      let next = performance.now() + 3_600_000;
      for (const run of this.#active.values()) next = Math.min(next, run.beatAt);
      this.#beatAt = next;
      await new Promise((resolve) => {
        const timer = setTimeout(done, Math.max(10, next - performance.now()));
        function done() {
          clearTimeout(timer);
          resolve();
        }
        this.#wakeBeat = done;
      });
      if (this.#halted.signal.aborted) return;
      const due = [...this.#active.values()].filter((run) => run.beatAt <= performance.now()).slice(0, heartbeatsMax);
      // Retry soon unless an answer arrives. Nothing awaits this request: the next due runs have a separate request.
      for (const run of due) run.beatAt = performance.now() + Math.max(run.leaseMs / 6, heartbeatTimeoutMinMs);
      if (due.length) void this.#heartbeat(due);
    }
  }

  async #heartbeat(runs) {
    const timeoutMs = Math.max(Math.min(...runs.map((run) => run.leaseMs)) / 6, heartbeatTimeoutMinMs);
    let outcomes = new Map();
    try {
      const sent = runs.map((run) => ({ id: run.id, fence: run.fence, lease: `${run.leaseMs}ms` }));
      const answer = await this.#client.call('POST', '/v1/runs/heartbeat', { worker: this.name, runs: sent }, { timeoutMs });
      outcomes = new Map(answer.items.map((item) => [item.id, item]));
    } catch (failure) {
      this.#options.onWarning(`heartbeat failed for ${runs.length} runs: ${failure.message}`);
    }
    for (const run of runs) {
      const item = outcomes.get(run.id) ?? { outcome: 'error' };
      if (item.outcome === 'kept') {
        run.extend(item.lease_ms);
      } else if (item.outcome !== 'error' || performance.now() >= run.leaseEnds) {
        // The lease is lost: the result of the handler will not be used.
        this.#options.onWarning(`run ${run.id}: ${item.outcome}`);
        run.abandon();
      }
    }
  }
}
