export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface RunErrorOptions {
  details?: unknown;
  /** false: trying again is no use. */
  retry?: boolean;
  /** Until the next attempt, instead of the policy's. */
  delayMs?: number;
  errorClass?: 'transport' | 'timeout' | 'authorization' | 'consistency' | 'business';
}

/** A failed attempt, with all that can be said about it. */
export declare class RunError extends Error {
  constructor(code: string, message?: string, options?: RunErrorOptions);
  readonly code: string;
  readonly details: unknown;
  readonly retry: boolean;
  readonly delayMs: number | undefined;
}
/** A decision, not an accident: the run fails and is not tried again. */
export declare class BusinessError extends RunError {
  constructor(code: string, message?: string, details?: unknown);
}
/** Not now: tried again after the delay. */
export declare class RetryLater extends RunError {
  constructor(delayMs: number, options?: { code?: string; message?: string; details?: unknown });
}
/** The run was cancelled, or its lease is lost: nobody waits for the result. */
export declare class Cancelled extends Error {
  constructor(id: string);
}
/** An answer of the server that is not a success (RFC 9457). */
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
  /** Without an `idempotency_key` it makes one up: the request may be repeated after a lost answer. */
  submit(type: string, payload?: unknown, options?: RunOptions): Promise<RunDocument>;
  /** All of them in one transaction. */
  submitMany(
    runs: Array<RunOptions & { type: string; payload?: unknown }>,
  ): Promise<Array<{ id: string; status: string; created: boolean } | { error: string }>>;
  get(id: string): Promise<RunDocument>;
  cancel(id: string): Promise<RunDocument>;
  /** `text`: a body that is JSON already. `ending` closes the sending half when it is aborted and still reads an answer. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { signal?: AbortSignal; ending?: AbortSignal; text?: string; timeoutMs?: number },
  ): Promise<any>;
}

/** One attempt: what a handler works on. */
export declare class Run<Payload = any> {
  readonly id: string;
  readonly type: string;
  readonly payload: Payload;
  /** The same for every attempt. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The instance that waits for it, when there is one. */
  readonly instance: string | undefined;
  /** W3C trace context of this attempt, to pass on. */
  readonly traceparent: string;
  readonly fence: number;
  readonly leaseMs: number;
  /** Aborted when the run was cancelled or its lease is lost. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** Throws Cancelled when nobody waits for the result any more. */
  check(): void;
}

export type Handler<Payload = any> = (run: Run<Payload>) => unknown | Promise<unknown>;

export interface WorkerOptions {
  /** How many runs at once; 16 when absent. */
  concurrency?: number;
  /** For people; made unique with a random part. */
  name?: string;
  leaseMs?: number;
  pollMs?: number;
  token?: string;
  /** What to lease, instead of what the handlers are for. */
  prefixes?: string[];
  onWarning?: (text: string) => void;
}

/** Leases runs of the types it has handlers for and works on several of them at once. */
export declare class Worker {
  constructor(url: string | URL, options?: WorkerOptions);
  readonly name: string;
  /** Runs of this type, or of every type below it when it ends with a dot. */
  handle<Payload = any>(type: string, handler: Handler<Payload>): this;
  start(): this;
  /** Works until SIGINT or SIGTERM, then finishes what is under way. */
  run(): Promise<void>;
  /** Takes nothing new and waits for handlers, at most `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}
