export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface RunErrorOptions {
  details?: unknown;
  /** false if a retry cannot succeed. */
  retry?: boolean;
  /** Delay until the next attempt; replaces that of the retry policy. */
  delayMs?: number;
  errorClass?: 'transport' | 'timeout' | 'authorization' | 'consistency' | 'business';
}

/** A failed attempt, with its details. */
export declare class RunError extends Error {
  constructor(code: string, message?: string, options?: RunErrorOptions);
  readonly code: string;
  readonly details: unknown;
  readonly retry: boolean;
  readonly delayMs: number | undefined;
}
/** A business decision: the run fails and is not retried. */
export declare class BusinessError extends RunError {
  constructor(code: string, message?: string, details?: unknown);
}
/** The run is retried after the delay. */
export declare class RetryLater extends RunError {
  constructor(delayMs: number, options?: { code?: string; message?: string; details?: unknown });
}
/** The run was cancelled or its lease is lost: the result will not be used. */
export declare class Cancelled extends Error {
  constructor(id: string);
}
/** An error response of the server (RFC 9457). */
export declare class Problem extends Error {
  readonly status: number;
  /** The last part of the problem's type: not_found, lease_lost, … */
  readonly type: string;
  readonly document: Record<string, unknown>;
}
export declare class LeaseLost extends Problem {}
/** The server could not be reached. */
export declare class ConnectionFailed extends Error {}

export interface RunOptions {
  id?: string;
  idempotency_key?: string;
  /** Higher first. */
  priority?: number;
  /** RFC 3339. */
  run_at?: string;
  /** Instead of run_at: `10s`, `2h`. */
  delay?: string;
  max_attempts?: number;
  timeout?: string;
  retry?: { backoff?: string; cap?: string; factor?: number; jitter?: number };
}
export interface RunDocument {
  id: string;
  type: string;
  status: 'pending' | 'leased' | 'succeeded' | 'failed' | 'cancelled';
  payload: unknown;
  result?: unknown;
  error?: Record<string, unknown>;
  last_error?: string;
  attempt: number;
  max_attempts: number;
  [key: string]: unknown;
}

/** Calls to one server. */
export declare class Client {
  constructor(url: string | URL, options?: { token?: string });
  /** Without an `idempotency_key` it creates one, so that the request can be repeated after a lost answer. */
  submit(type: string, payload?: unknown, options?: RunOptions): Promise<RunDocument>;
  /** All of them in one transaction. */
  submitMany(
    runs: Array<RunOptions & { type: string; payload?: unknown }>,
  ): Promise<Array<{ id: string; status: string; created: boolean } | { error: string }>>;
  get(id: string): Promise<RunDocument>;
  cancel(id: string): Promise<RunDocument>;
  /** `text` is a body of JSON text. Aborting `ending` closes the sending half; the answer is still read. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { signal?: AbortSignal; ending?: AbortSignal; text?: string; timeoutMs?: number },
  ): Promise<any>;
}

/** One attempt of a run, as a handler receives it. */
export declare class Run<Payload = any> {
  readonly id: string;
  readonly type: string;
  readonly payload: Payload;
  /** The same for every attempt. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The instance that waits for it, if any. */
  readonly instance: string | undefined;
  /** W3C trace context of this attempt, to pass on. */
  readonly traceparent: string;
  readonly fence: number;
  readonly leaseMs: number;
  /** Aborted if the run is cancelled or its lease is lost. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** Throws Cancelled if the result will not be used. */
  check(): void;
}

export type Handler<Payload = any> = (run: Run<Payload>) => unknown | Promise<unknown>;

export interface WorkerOptions {
  /** The number of concurrent runs; default 16. */
  concurrency?: number;
  /** For display; a random suffix makes it unique. */
  name?: string;
  leaseMs?: number;
  pollMs?: number;
  token?: string;
  /**
   * The type prefixes to lease, instead of the handlers' types. Default: the environment variable
   * CAIRN_WORKER_TYPE_PREFIXES or WORKER_TYPE_PREFIXES (`billing.,media.`).
   */
  prefixes?: string[];
  onWarning?: (text: string) => void;
}

/** Leases runs of the types it has handlers for and runs several handlers at once. */
export declare class Worker {
  constructor(url: string | URL, options?: WorkerOptions);
  readonly name: string;
  /** Handles runs of this type. A type that ends with a dot is a prefix; `*` handles every type. */
  handle<Payload = any>(type: string, handler: Handler<Payload>): this;
  start(): this;
  /** Works until SIGINT or SIGTERM, then finishes the running handlers. */
  run(): Promise<void>;
  /** Leases nothing new and waits up to `graceMs` for handlers. */
  stop(graceMs?: number): Promise<void>;
}
