// Workers for cairn in JavaScript and TypeScript: one module without dependencies, Node 18 or newer. The types
// stand beside it in cairn-worker.d.mts.
//
//   import { Worker, BusinessError } from './cairn-worker.mjs';
//
//   const worker = new Worker('http://127.0.0.1:8400', { concurrency: 16 });
//   worker.handle('billing.charge.v1', async (run) => bank.charge(run.payload.amount, { key: run.idempotencyKey }));
//   await worker.run();      // until SIGINT or SIGTERM, then finishes what is under way
//
// A handler returns the result. To fail it throws: BusinessError for a decision that trying again will not change,
// RetryLater with a delay, or anything else, which is tried again while attempts are left. Leases are kept alive
// while a handler works; `run.signal` is aborted when the run was cancelled or its lease is lost.

import { randomBytes } from 'node:crypto';
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

// Over node:http and not fetch: half the processor for each request, and answers that come as they are.
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
    // An idle connection ends before the server would close it under a request.
    const agent = new Agent({ keepAlive: true, timeout: 60_000 });
    this.#options = { agent, host: at.hostname.replace(/^\[|\]$/g, ''), ...(at.port ? { port: at.port } : {}) };
  }

  async call(method, path, body, { signal, timeoutMs = 30_000 } = {}) {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const headers = { accept: 'application/json' };
    if (data !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(data);
    }
    if (this.#token) headers.authorization = `Bearer ${this.#token}`;
    let answer;
    try {
      answer = await this.#exchange({ ...this.#options, method, path: this.#path + path, headers }, data, signal, timeoutMs);
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

  #exchange(options, data, signal, timeoutMs) {
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
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      function over() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      }
      function fail(failure) {
        over();
        reject(failure);
      }
      request.on('error', fail);
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
      request.end(data);
    });
  }

  submit(type, payload = null, options = {}) {
    return this.call('POST', '/v1/runs', { ...options, type, payload });
  }
  async submitMany(runs) {
    return (await this.call('POST', '/v1/runs/batch', { runs }, { timeoutMs: 120_000 })).items;
  }
  get(id) {
    return this.call('GET', `/v1/runs/${encodeURIComponent(id)}`);
  }
  cancel(id) {
    return this.call('POST', `/v1/runs/${encodeURIComponent(id)}/cancel`);
  }
}

// One attempt: what a handler works on.
export class Run {
  #abort = null; // made when somebody asks for it: most handlers never do
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
  // The lease lasts this long from now; a heartbeat is due when a third of it is over.
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
  // Throws when nobody waits for the result any more.
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
const unreportedMax = 4; // times the concurrency
// Questions that wait at the server at once. A run that is written while somebody waits for it begins leased and costs
// no commit more; with one question only, nobody would wait while its answer is on the way.
const questionsMax = 4;
// Requests with reports under way at once: what is done while one waits for the server's disk does not wait for it too.
const reportersMax = 2;

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

// Leases runs of the types it has handlers for and works on `concurrency` of them at once.
export class Worker {
  #client;
  #options;
  #handlers = new Map();
  #active = new Map();
  #working = 0; // handlers under way; the rest of the active ones only wait for their report
  #wanted = 0; // runs, by all questions that wait at the server
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
  #beatAt = Infinity; // when heartbeats are looked at next

  constructor(url, { concurrency = 16, name = hostname(), leaseMs = 30_000, pollMs = 20_000, token, prefixes, onWarning } = {}) {
    this.#client = new Client(url, token === undefined ? {} : { token });
    // With a random part: a restarted worker owns nothing of its predecessor's.
    this.name = `${name}-${randomBytes(4).toString('hex')}`;
    this.#options = { concurrency, leaseMs, pollMs, prefixes, onWarning: onWarning ?? ((text) => console.warn(`cairn worker: ${text}`)) };
  }

  // Runs of this type, or of every type below it when it ends with a dot.
  handle(type, handler) {
    this.#handlers.set(type, handler);
    return this;
  }

  // What it leases: its types exactly, and prefixes for handlers that end with a dot. A type that nobody here
  // handles is then left to others; with prefixes of one's own it fails as no_handler_registered.
  #types() {
    if (this.#options.prefixes) return { prefixes: this.#options.prefixes };
    const names = [...this.#handlers.keys()];
    const types = names.filter((name) => !name.endsWith('.'));
    const prefixes = names.filter((name) => name.endsWith('.'));
    return { ...(types.length ? { types } : {}), ...(prefixes.length ? { prefixes } : {}) };
  }

  #find(type) {
    const exact = this.#handlers.get(type);
    if (exact) return exact;
    const fitting = [...this.#handlers.keys()].filter((name) => name.endsWith('.') && type.startsWith(name));
    return fitting.length ? this.#handlers.get(fitting.sort((a, b) => b.length - a.length)[0]) : undefined;
  }

  start() {
    if (!this.#handlers.size && !this.#options.prefixes) throw new Error('a worker needs at least one handler');
    const askers = Math.min(questionsMax, this.#options.concurrency);
    this.#loop = Promise.all(Array.from({ length: askers }, () => this.#lease()));
    this.#beat = this.#keepAlive();
    return this;
  }

  // Works until SIGINT or SIGTERM, then finishes what is under way.
  async run() {
    const asked = new Promise((resolve) => {
      for (const name of ['SIGINT', 'SIGTERM']) process.once(name, resolve);
    });
    this.start();
    await asked;
    await this.stop();
  }

  // Takes nothing new and waits for handlers, at most `graceMs`.
  async stop(graceMs = 30_000) {
    this.#stopping.abort();
    this.#makeRoom();
    await this.#loop;
    if (this.#active.size) {
      // The timer must not outlive the wait, or it would keep the process.
      const over = new AbortController();
      await Promise.race([new Promise((resolve) => this.#idle.push(resolve)), pause(graceMs, over.signal)]);
      over.abort();
    }
    this.#halted.abort();
    this.#wakeBeat?.();
    await this.#beat;
  }

  // What one more question may ask for: its share of the room, with the others that may come after it.
  #room() {
    const { concurrency } = this.#options;
    // What is done but not reported yet keeps no handler from its work, up to a bound.
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
        // Aborting ends the long poll; the server sees that nobody listens and leases nothing to it.
        const answer = await this.#client.call('POST', '/v1/runs/lease', asked, { signal: this.#stopping.signal, timeoutMs: pollMs + 15_000 });
        items = answer.items;
        delay = 100;
      } catch (failure) {
        if (this.#stopping.signal.aborted) return;
        this.#options.onWarning(`nothing can be leased now: ${failure.message}`);
        // The server may be starting again; all of its workers must not come back in step.
        await pause(delay * (1 + Math.random()), this.#stopping.signal);
        delay = Math.min(delay * 2, 10_000);
        continue;
      } finally {
        this.#wanted -= max;
        --this.#questions;
      }
      let soonest = Infinity;
      for (const item of items) {
        const run = new Run(item);
        this.#active.set(run.id, run);
        soonest = Math.min(soonest, run.beatAt);
        ++this.#working;
        void this.#execute(run);
      }
      // One of them may have a shorter lease than all the others.
      if (soonest < this.#beatAt) this.#wakeBeat?.();
    }
  }

  async #execute(run) {
    const report = { id: run.id, fence: run.fence };
    try {
      await this.#work(run, report);
    } finally {
      --this.#working;
      this.#makeRoom();
    }
  }

  async #work(run, report) {
    try {
      const handler = this.#find(run.type);
      if (!handler) throw new RunError('no_handler_registered', '', { retry: false });
      const result = await handler(run);
      report.result = result === undefined ? null : result;
      JSON.stringify(report.result);
    } catch (failure) {
      if (failure instanceof Cancelled || run.cancelled) return this.#forget(run);
      delete report.result;
      if (failure instanceof RunError) {
        report.error = { class: failure.errorClass, code: failure.code, message: failure.text, details: failure.details };
        report.retry = failure.retry;
        if (failure.delayMs !== undefined) report.delay = `${Math.max(0, Math.round(failure.delayMs))}ms`;
      } else {
        report.error = { class: 'transport', code: failure?.name ?? 'Error', message: String(failure?.message ?? failure).slice(0, 2000) };
      }
    }
    if (run.cancelled) return this.#forget(run);
    this.#reports.push([run, report]);
    if (this.#reporting < reportersMax && this.#reports.length === 1) void this.#report();
  }

  // What finishes while a request is under way goes into the next one together. A result is kept and sent again
  // until its lease has ended: work that is done is not thrown away because the server is away for a moment.
  async #report() {
    ++this.#reporting;
    let delay = 100;
    // Whatever finishes in this turn of the loop belongs to it.
    await new Promise(setImmediate);
    while (this.#reports.length) {
      let batch = this.#reports.splice(0, reportsMax);
      while (batch.length) {
        try {
          const reports = batch.map(([, report]) => report);
          const answer = await this.#client.call('POST', '/v1/runs/report', { worker: this.name, reports });
          for (const item of answer.items) {
            if (item.outcome === 'lease_lost') this.#options.onWarning(`run ${item.id} was no longer ours: its result is not used`);
            if (item.outcome === 'error') this.#options.onWarning(`run ${item.id} could not be reported: ${item.error}`);
          }
          delay = 100;
          break;
        } catch (failure) {
          this.#options.onWarning(`reports wait: ${failure.message}`);
          if (failure instanceof Problem && failure.status < 500 && failure.status !== 429) break;
          await pause(delay);
          delay = Math.min(delay * 2, 2_000);
          const kept = batch.filter(([run]) => performance.now() < run.leaseEnds && !this.#halted.signal.aborted);
          for (const [run] of batch) if (!kept.some(([other]) => other === run)) this.#forget(run);
          batch = kept;
        }
      }
      for (const [run] of batch) this.#forget(run);
    }
    --this.#reporting;
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
      const due = [...this.#active.values()].filter((run) => run.beatAt <= performance.now());
      await Promise.all(due.map((run) => this.#heartbeat(run)));
    }
  }

  async #heartbeat(run) {
    try {
      const answer = await this.#client.call('POST', `/v1/runs/${run.id}/heartbeat`, { fence: run.fence, worker: this.name, lease: `${run.leaseMs}ms` });
      run.extend(answer.lease_ms ?? 0);
      if (answer.cancelled) run.abandon();
    } catch (failure) {
      // Not ours any more: whatever the handler still does is in vain.
      const lost = failure instanceof Problem && ([403, 404, 409].includes(failure.status));
      run.beatAt = performance.now() + run.leaseMs / 6;
      if (lost || performance.now() >= run.leaseEnds) run.abandon();
      this.#options.onWarning(`run ${run.id}: ${failure.message}`);
    }
  }
}
