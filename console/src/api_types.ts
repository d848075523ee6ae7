// Made by types.mjs from the OpenAPI document of the server. Do not edit.
import type { Json } from './json/lossless';

export interface Alert {
  exceeds_since?: string;
  filter: string;
  for?: string;
  id: string;
  more_than: number;
  name: string;
  owner: string;
  raised: boolean;
  raised_at?: string;
}

export interface AlertPage {
  items: Alert[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface AnswerState {
  state: "answered";
}

export interface AuditReport {
  broken_at?: number;
  first_row: number;
  intact: boolean;
  last_hash: string;
  rows: number;
  why?: string;
}

export interface AuditRow {
  at: string;
  details?: Json;
  from: string;
  hash: string;
  previous_hash?: string;
  resource: string;
  sequence: number;
  what: string;
  who: string;
  why: string;
}

export interface AuditRowPage {
  items: AuditRow[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface BulkItem {
  detail?: string;
  instance: string;
  outcome: "pending" | "done" | "failed";
}

export interface BulkItemPage {
  items: BulkItem[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface BulkProgress {
  action: string;
  created_at?: string;
  done: number; // without those that failed
  failed?: ({
    detail: string;
    instance: string;
  })[]; // the first 1000
  failed_count: number;
  filter?: string;
  finished: boolean; // also if it was cancelled
  id: string;
  person?: string;
  reason?: string;
  state: "preview" | "running" | "paused" | "cancelled" | "finished";
  total: number;
}

export interface BulkProgressPage {
  items: BulkProgress[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface BulkStarted {
  action: string;
  dry_run?: boolean;
  id?: string;
  instances?: Json[];
  matched: number;
  more?: boolean;
  preview?: boolean;
}

export type Canonical = { [name: string]: Json };

export interface DeadLetter {
  at: string;
  envelope: Json;
  id: number;
  instance?: string | null;
  kind: string;
  node: string;
  reason: string;
}

export interface DeadLetterPage {
  items: DeadLetter[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Definition {
  deployed_at: string;
  digest: string;
  name: string;
  retired_at?: string;
  title?: string | null;
  version: string;
}

export interface DefinitionPage {
  items: Definition[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Delivery {
  at: string;
  attempt: number;
  delivered: boolean;
  error: string | null;
  sink: string | null;
}

export interface DeliveryPage {
  items: Delivery[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Deployed {
  digest: string;
  name: string;
  version: string;
  warnings: Json[];
}

export type Document = { [name: string]: Json };

export interface Draft {
  payload: Json;
  saved_at: string | null; // null: the caller has no draft
}

export interface EmbedToken {
  expires_at: string;
  token: string;
}

export interface ErrorGroup {
  code: string;
  count: number;
  definition: string;
  example: string; // the newest instance
  filter: string; // finds its instances
  fingerprint: string;
  first_at: string;
  last_at: string;
  message: string; // of the newest
  next_at?: string; // retrying: the next attempt
  status: "suspended" | "failed" | "retrying";
  step: string;
  times: number[]; // how many in each 24th of the window
  versions: string[];
}

export interface ErrorGroups {
  complete: boolean; // false: only the newest instances were read
  items: ErrorGroup[];
  window: string;
}

export interface Explanation {
  id: string;
  reasons: ({
    command?: string;
    kind: string;
    reason: string;
    since?: string;
    step?: string;
  })[];
  status: Status;
}

export interface Failure {
  at?: string | null;
  attempt?: number;
  class: string;
  code: string;
  details?: Json;
  message: string;
  step?: string | null;
}

export interface FiringTimes {
  items: string[];
}

export interface FunctionList {
  items: ({
    description: string;
    example?: string;
    library?: string;
    name: string;
    result?: string;
    signature: string;
  })[];
}

export interface HealthReport {
  findings: ({
    advice: string;
    grade: "ok" | "look" | "BROKEN";
    what: string;
  })[];
}

export interface Heartbeat {
  cancelled: boolean;
  id: string;
  lease_ms?: number;
  lease_until?: string;
  status: string;
}

export interface HistoryEntry {
  actor: string;
  at: string;
  attempt?: number;
  details?: Json;
  event: string;
  sequence: number;
  state_version: number;
  step: string;
  visit?: string;
}

export interface HistoryEntryPage {
  items: HistoryEntry[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Info {
  cairn: string;
  definition_language?: number;
  expression_language?: number;
  node: string;
  now: string;
}

export interface Instance {
  changed_at: string;
  definition: string;
  ended_at?: string;
  error?: Failure;
  id: string;
  input?: Json;
  output?: Json;
  parent?: string;
  reference: Reference;
  retrying?: Retrying;
  signals?: Signal[];
  started_at: string;
  state?: { [name: string]: Json };
  state_version: number;
  status: Status;
  version: string;
  waits?: Wait[];
}

export interface InstanceAnswer {
  id: string;
  output?: Json;
  repeated?: boolean;
  state_version: number;
  status: Status;
}

export interface InstancePage {
  items: Instance[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Key {
  created_at: string;
  expires_at?: string;
  id: string;
  note: string;
  revoked_at?: string;
  roles: string[];
  scope?: { [name: string]: Json } | null;
  subject: string;
}

export interface KeyPage {
  items: Key[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface LeasedRuns {
  items: Run[];
}

export interface LinkedQuestion {
  answer?: Json;
  answered_at?: string;
  answered_by?: string;
  asked_at?: string;
  before?: ({
    at: string;
    person: string;
    title: string;
  })[];
  deadline?: string;
  due?: string;
  expires_at?: string;
  form?: Json;
  payload?: Json;
  person?: string;
  reference?: Json;
  requester?: string | null;
  state: "open" | "answered" | "changed" | "expired" | "closed" | "unknown"; // unknown: not a link of this server
  title?: string;
}

export interface NewKey {
  created_at?: string;
  expires_at?: string;
  id: string;
  key: string; // the secret, shown this once
  note?: string;
  roles: string[];
  scope?: { [name: string]: Json } | null;
  subject: string;
}

export interface OutboxEvent {
  data: Json;
  datacontenttype?: string;
  id: string;
  instance?: string;
  published_at: string | null;
  sequence: string;
  source: string;
  specversion: string;
  subject?: string;
  time: string;
  traceparent?: string;
  type: string;
}

export interface OutboxEventPage {
  items: OutboxEvent[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Problem {
  detail?: string;
  errors?: ({
    column?: number;
    detail?: string;
    line?: number;
    pointer?: string; // JSON pointer into the request
    severity?: string;
  })[];
  limit?: string;
  limit_value?: number;
  matched_at_least?: number; // bulk_instances: so many instances match
  status: number;
  status_now?: string; // lease_lost: the status of the run
  title: string;
  type: string;
}

export interface ProblemText {
  advice: string;
  description: string;
  status: number;
  type: string;
}

export interface Reference {
  key: Json;
  parts: { [name: string]: Json } | null;
}

export interface Replayed {
  id: number;
  replayed: boolean;
}

export interface Resent {
  resent: boolean;
  sequence: number;
}

export interface RetentionReport {
  audit: number;
  dead_letters: number;
  deleted_runs: number;
  instances: number;
  keys: number;
  more: boolean; // true: the time of one request is over, send it again
  outbox: number;
  ran: boolean;
  run_events: number;
  runs: number;
  stale_instances: number;
  stale_tasks: number;
  token_users: number;
}

export interface Retrying {
  attempt: number;
  code?: string;
  failed_at: string;
  last_error: string;
  max_attempts: number;
  next_at?: string; // absent while the next attempt is made
  run: string;
  step: string;
}

export interface Run {
  attempt: number;
  created_at?: string;
  delete_reason?: string;
  deleted_at?: string;
  error?: Json;
  fence?: number;
  id: string;
  idempotency_key?: string;
  instance?: string;
  last_error?: string;
  lease_account?: string;
  lease_ms?: number; // in the answer to a lease: how long it lasts
  lease_until?: string;
  leased_by?: string;
  leases?: number;
  limit_key?: string;
  max_attempts: number;
  payload?: Json;
  priority?: number;
  result?: Json;
  run_at: string;
  status: "pending" | "leased" | "succeeded" | "failed" | "cancelled";
  step?: string;
  timeout?: string;
  traceparent?: string; // in the answer to a lease: the trace context of the attempt
  type: string;
  updated_at?: string;
}

export interface RunEvent {
  account?: string;
  actor: string;
  at: string;
  attempt: number;
  details?: Json;
  event: string;
  run: string;
  worker?: string;
}

export interface RunEventPage {
  items: RunEvent[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface RunOutcome {
  error?: string;
  id: string;
  lease_ms?: number;
  outcome: "finished" | "will_retry" | "lease_lost" | "kept" | "released" | "cancelled" | "error";
  retryable?: boolean; // of `error`: whether the same report may be taken later
}

export interface RunOutcomes {
  items: RunOutcome[];
}

export interface RunPage {
  items: Run[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface RunType {
  backoff?: string;
  cap?: string;
  concurrency?: number;
  lease?: string;
  limit_key?: string;
  max_attempts?: number;
  paused: boolean;
  rate?: number;
  rate_window?: string;
  type: string;
}

export interface RunTypePage {
  items: RunType[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Schedule {
  catch_up?: string;
  changed_at?: string;
  created_at?: string;
  cron?: string;
  every?: string;
  from?: string | null;
  jitter?: string;
  last?: Json;
  name: string;
  next_at: string | null;
  overlap?: "skip" | "queue" | "allow" | "cancel_other";
  paused: boolean;
  queued?: Json[];
  run?: { [name: string]: Json } | null; // the run that a firing submits
  start?: { [name: string]: Json } | null; // the instance that a firing starts
  state_version: number;
  zone?: string;
}

export interface SchedulePage {
  items: Schedule[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Session {
  auth: "none" | "session" | "bearer";
  csrf: string; // changes in this session need it in X-Cairn-CSRF
  permissions: string[];
  roles: string[];
  sign_in: ("key" | "oidc")[];
  user: string | null; // null: the caller is not signed in
}

export interface Signal {
  at: string;
  id: string;
  instance?: string;
  key: string | null;
  name: string;
  number?: number;
  payload: Json;
  until: string | null;
}

export interface SignalOutcome {
  id?: string;
  instances: string[];
  kept: boolean;
  repeated: boolean;
  source?: string;
}

export interface SignalOutcomes {
  items: SignalOutcome[];
}

export interface SignalPage {
  items: Signal[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Snapshot {
  compensations?: number; // registered undos
  definition: string;
  digest: string;
  error?: Failure;
  format?: number; // of the stored snapshot
  id: string;
  input?: Json;
  last_event?: string;
  output?: Json;
  reference?: Reference;
  signals: Signal[];
  state: { [name: string]: Json };
  state_version: number;
  status: Status;
  strands: ({
    at: string;
    id: number;
    parent: number; // 0: this is the main strand
    waits: string[];
  })[];
  version: string;
  waits: Wait[];
}

export type Status = "running" | "waiting" | "suspended" | "completed" | "failed" | "cancelled";

export interface SubmittedRuns {
  items: ({
    created?: boolean;
    error?: string;
    id?: string;
    status?: string;
  })[];
}

export interface Task {
  assignee?: string;
  completed_at?: string;
  completed_by?: string;
  created_at: string;
  deadline?: string;
  due?: string;
  exclude?: string[];
  form?: Json;
  id: string;
  instance: string;
  managers?: string[];
  name: string;
  payload?: Json;
  priority?: number;
  reference?: Reference;
  roles: string[];
  state_version: number;
  status: "open" | "assigned" | "completed" | "cancelled" | "expired";
  step: string;
  title: string;
}

export interface TaskEvent {
  actor: string;
  at: string;
  details?: Json;
  event: "created" | "assigned" | "released" | "reassigned" | "completed" | "cancelled" | "expired" | "commented";
  task: string;
}

export interface TaskEventPage {
  items: TaskEvent[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface TaskLink {
  expires_at: string;
  path: string; // of the page, below the server's address
  person: string;
  token: string;
}

export interface TaskPage {
  items: Task[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Verification {
  findings: ({
    invariant: string;
    message: string;
    subject: string;
  })[];
  instances: number;
  runs: number;
  tasks: number;
}

export interface View {
  changed_at: string;
  filter: string;
  id: string;
  name: string;
  own: boolean;
  owner: string;
  page?: "instances" | "inbox";
  shared?: boolean;
}

export interface ViewPage {
  items: View[];
  next_cursor?: string | null;
  unreadable?: string[]; // rows that were omitted because they cannot be read
}

export interface Wait {
  key?: Json;
  kind: "task" | "timer" | "signal" | "subworkflow" | "run" | "retry";
  name?: string;
  since: string;
  step: string;
  target?: string;
  token: string;
  until?: string;
}

export interface PutAlertRequest {
  filter: string; // status:suspended definition:loan.approval …
  for?: string; // only when more match for this long: 5m
  more_than: number; // raise it when more instances match
  name: string;
}

export interface GiveAnswerRequest {
  payload?: Json;
}

export interface StartBulkRequest {
  action: "cancel" | "suspend" | "resume" | "retry" | "signal" | "delete";
  all?: boolean; // confirms that every instance is meant if there is no filter
  dry_run?: boolean; // only list the instances
  filter?: string; // status:suspended definition:loan.approval …
  instances?: string[]; // these, instead of a filter
  max?: number; // refuse if more instances match; default 1000
  preview?: boolean; // freeze the selection; POST /v1/bulk/{id}/start begins
  reason?: string;
  signal?: {
    key?: string | null;
    name: string;
    payload?: Json;
  };
}

export interface CancelBulkRequest {
  reason?: string;
}

export interface PauseBulkRequest {
  reason?: string;
}

export interface ResumeBulkRequest {
  reason?: string;
}

export interface BeginBulkRequest {
  reason?: string;
}

export interface ReplayDeadLetterRequest {
  reason?: string;
}

export interface CreateEmbedTokenRequest {
  expires_in?: string; // 10m; at most an hour
  inbox?: Json; // the page shows the person's tasks
  instance?: string; // whose diagram the page shows
  person?: string; // who uses the page; default: the caller
  task_roles?: string[]; // the person's roles in tasks
}

export interface StartInstanceRequest {
  definition: string;
  id?: string;
  input?: Json;
  reference?: {
    key?: string | null;
    parts?: { [name: string]: Json };
  };
  version?: string;
}

export interface CancelInstanceRequest {
  reason?: string;
}

export interface ResumeInstanceRequest {
  reason?: string;
}

export interface RetryInstanceRequest {
  new_key?: boolean; // a retried call gets a new idempotency key
  reason?: string;
}

export interface SignalInstanceRequest {
  id?: string;
  key?: string | null;
  name: string;
  payload?: Json;
  ttl?: string; // how long it is kept if no step takes it; default: as the definition says, else for ever
}

export interface SkipStepRequest {
  reason?: string;
  result?: Json;
}

export interface SuspendInstanceRequest {
  reason?: string;
}

export interface CreateKeyRequest {
  expires_in?: string;
  note?: string;
  reason?: string;
  roles: ("viewer" | "task_worker" | "starter" | "worker" | "operator" | "deployer" | "admin")[];
  scope?: {
    prefixes?: string[];
    task_roles?: string[];
  };
  subject: string; // the person or program that uses the key
}

export interface ResendEventRequest {
  reason?: string;
}

export interface RunRetentionRequest {
  audit?: string; // audit rows, which are exported first
  cancelled?: string;
  completed?: string; // instances that completed longer ago than this: 30d
  dead_letters?: string; // dead letters without an open instance
  deleted_runs?: string; // deleted runs without an instance
  failed?: string;
  keys?: string; // idempotency keys
  outbox?: string; // published events
  reason?: string;
  run_events?: string; // events of runs; the runs stay
  runs?: string; // finished runs without an instance
  stale_instances?: string; // open instances without progress for so long are cancelled
  stale_tasks?: string; // open tasks that have not changed for so long end as expired
}

export interface PutRunTypeRequest {
  backoff?: string;
  cap?: string;
  concurrency?: number;
  lease?: string;
  limit_key?: string;
  max_attempts?: number;
  paused?: boolean;
  rate?: number;
  rate_window?: string;
}

export interface SubmitRunRequest {
  delay?: string;
  id?: string;
  idempotency_key?: string;
  max_attempts?: number;
  payload?: Json;
  priority?: number;
  retry?: {
    backoff?: string;
    cap?: string;
    factor?: number;
    jitter?: number;
  };
  run_at?: string;
  timeout?: string;
  type: string;
}

export interface SubmitRunsRequest {
  runs: ({
    delay?: string;
    id?: string;
    idempotency_key?: string;
    max_attempts?: number;
    payload?: Json;
    priority?: number;
    retry?: {
      backoff?: string;
      cap?: string;
      factor?: number;
      jitter?: number;
    };
    run_at?: string;
    timeout?: string;
    type: string;
  })[];
}

export interface HeartbeatRunsRequest {
  runs: ({
    fence: number;
    id: string;
    lease?: string;
  })[];
  worker?: string;
}

export interface LeaseRunsRequest {
  lease?: string;
  max?: number;
  prefixes?: string[];
  types?: string[];
  wait?: string;
  worker: string;
}

export interface ReleaseRunsRequest {
  runs: ({
    fence: number;
    id: string;
    lease?: string;
  })[];
  worker?: string;
}

export interface ReportRunsRequest {
  reports: ({
    delay?: string;
    error?: {
      class?: "transport" | "timeout" | "authorization" | "consistency" | "business";
      code?: string;
      details?: Json;
      message?: string;
    };
    fence: number;
    id: string;
    result?: Json;
    retry?: boolean;
  })[];
  worker?: string;
}

export interface CancelRunRequest {
  reason?: string;
}

export interface CompleteRunRequest {
  fence: number;
  result?: Json;
  worker?: string;
}

export interface FailRunRequest {
  delay?: string;
  error: {
    class?: "transport" | "timeout" | "authorization" | "consistency" | "business";
    code?: string;
    details?: Json;
    message?: string;
  };
  fence: number;
  retry?: boolean;
  worker?: string;
}

export interface HeartbeatRunRequest {
  fence: number;
  lease?: string;
  worker?: string;
}

export interface ReleaseRunRequest {
  fence: number;
  lease?: string;
  worker?: string;
}

export interface CreateScheduleRequest {
  catch_up?: string;
  cron?: string;
  every?: string;
  from?: string | null;
  jitter?: string;
  name: string;
  overlap?: "skip" | "queue" | "allow" | "cancel_other";
  paused?: boolean;
  run?: {
    max_attempts?: number;
    payload?: Json;
    priority?: number;
    type: string;
  };
  start?: {
    definition: string;
    input?: Json;
    reference?: {
      key?: string;
      parts?: { [name: string]: Json };
    };
    version?: string;
  };
  until?: string | null;
  zone?: string;
}

export interface ChangeScheduleRequest {
  catch_up?: string;
  cron?: string;
  every?: string;
  from?: string | null;
  jitter?: string;
  overlap?: "skip" | "queue" | "allow" | "cancel_other";
  paused?: boolean;
  run?: { [name: string]: Json };
  start?: { [name: string]: Json };
  until?: string | null;
  zone?: string;
}

export interface PauseScheduleRequest {
  reason?: string;
}

export interface ResumeScheduleRequest {
  reason?: string;
}

export interface TriggerScheduleRequest {
  reason?: string;
}

export interface CreateSessionRequest {
  reason?: string;
}

export interface SendSignalRequest {
  id?: string;
  key?: string | null;
  name: string;
  payload?: Json;
  ttl?: string; // how long it is kept if no instance waits for it; default: as a definition says, else for ever
}

export interface AssignTaskRequest {
  assignee?: string;
}

export interface CommentTaskRequest {
  comment: string;
}

export interface CompleteTaskRequest {
  payload?: Json;
}

export interface PutDraftRequest {
  payload: Json;
}

export interface CreateTaskLinkRequest {
  answer?: Json; // the answer that the page proposes
  expires_in?: string; // how long the link is valid: 72h; at most 30 days
  person: string; // who answers with the link
}

export interface ReassignTaskRequest {
  assignee: string;
}

export interface ReleaseTaskRequest {
  reason?: string;
}

export interface PutViewRequest {
  filter: string; // status:suspended definition:loan.approval …
  name: string;
  page?: "instances" | "inbox"; // default: instances
  shared?: boolean; // also for other people
}

export const operations = {
  assignTask: { method: 'POST', path: '/v1/tasks/{id}/assign', permission: 'work_tasks' },
  beginBulk: { method: 'POST', path: '/v1/bulk/{id}/start', permission: 'operate' },
  cancelBulk: { method: 'POST', path: '/v1/bulk/{id}/cancel', permission: 'operate' },
  cancelInstance: { method: 'POST', path: '/v1/instances/{id}/cancel', permission: 'operate' },
  cancelRun: { method: 'POST', path: '/v1/runs/{id}/cancel', permission: 'operate' },
  changeSchedule: { method: 'PATCH', path: '/v1/schedules/{name}', permission: 'operate' },
  commentTask: { method: 'POST', path: '/v1/tasks/{id}/comment', permission: 'work_tasks' },
  completeRun: { method: 'POST', path: '/v1/runs/{id}/complete', permission: 'report_runs' },
  completeTask: { method: 'POST', path: '/v1/tasks/{id}/complete', permission: 'work_tasks' },
  createEmbedToken: { method: 'POST', path: '/v1/embed', permission: 'signed_in' },
  createKey: { method: 'POST', path: '/v1/keys', permission: 'administer' },
  createSchedule: { method: 'POST', path: '/v1/schedules', permission: 'operate' },
  createSession: { method: 'POST', path: '/v1/session', permission: 'signed_in' },
  createTaskLink: { method: 'POST', path: '/v1/tasks/{id}/link', permission: 'tasks.manage' },
  deleteAlert: { method: 'DELETE', path: '/v1/alerts/{id}', permission: 'operate' },
  deleteDraft: { method: 'DELETE', path: '/v1/tasks/{id}/draft', permission: 'work_tasks' },
  deleteInstance: { method: 'DELETE', path: '/v1/instances/{id}', permission: 'operate' },
  deleteRun: { method: 'DELETE', path: '/v1/runs/{id}', permission: 'operate' },
  deleteRunType: { method: 'DELETE', path: '/v1/run-types/{type}', permission: 'operate' },
  deleteSchedule: { method: 'DELETE', path: '/v1/schedules/{name}', permission: 'operate' },
  deleteView: { method: 'DELETE', path: '/v1/views/{id}', permission: 'view_tasks' },
  deployDefinition: { method: 'POST', path: '/v1/definitions', permission: 'deploy' },
  discardDeadLetter: { method: 'DELETE', path: '/v1/dead-letters/{id}', permission: 'operate' },
  discardKeptSignal: { method: 'DELETE', path: '/v1/signals/{number}', permission: 'operate' },
  discardSignal: { method: 'DELETE', path: '/v1/instances/{id}/signals/{signal}', permission: 'operate' },
  doctor: { method: 'GET', path: '/v1/doctor', permission: 'operate' },
  editState: { method: 'PATCH', path: '/v1/instances/{id}/state', permission: 'operate' },
  endSession: { method: 'DELETE', path: '/v1/session', permission: 'signed_in' },
  explainInstance: { method: 'GET', path: '/v1/instances/{id}/why', permission: 'view' },
  failRun: { method: 'POST', path: '/v1/runs/{id}/fail', permission: 'report_runs' },
  getBulk: { method: 'GET', path: '/v1/bulk/{id}', permission: 'operate' },
  getCanonical: { method: 'GET', path: '/v1/definitions/{name}/{version}', permission: 'view' },
  getDeadLetter: { method: 'GET', path: '/v1/dead-letters/{id}', permission: 'view' },
  getDefinition: { method: 'GET', path: '/v1/definitions/{name}', permission: 'view' },
  getDefinitionDiagram: { method: 'GET', path: '/v1/definitions/{name}/{version}/diagram', permission: 'view' },
  getDefinitionSource: { method: 'GET', path: '/v1/definitions/{name}/{version}/source', permission: 'view' },
  getDraft: { method: 'GET', path: '/v1/tasks/{id}/draft', permission: 'work_tasks' },
  getHistory: { method: 'GET', path: '/v1/instances/{id}/history', permission: 'view' },
  getInfo: { method: 'GET', path: '/v1/info', permission: 'view' },
  getInstance: { method: 'GET', path: '/v1/instances/{id}', permission: 'view' },
  getInstanceDiagram: { method: 'GET', path: '/v1/instances/{id}/diagram', permission: 'view' },
  getNewestDiagram: { method: 'GET', path: '/v1/definitions/{name}/diagram', permission: 'view' },
  getProblem: { method: 'GET', path: '/problems/{name}', permission: 'open' },
  getRun: { method: 'GET', path: '/v1/runs/{id}', permission: 'view' },
  getRunEvents: { method: 'GET', path: '/v1/runs/{id}/events', permission: 'view' },
  getRunType: { method: 'GET', path: '/v1/run-types/{type}', permission: 'view' },
  getSchedule: { method: 'GET', path: '/v1/schedules/{name}', permission: 'view' },
  getSession: { method: 'GET', path: '/v1/session', permission: 'open' },
  getSnapshot: { method: 'GET', path: '/v1/instances/{id}/snapshot', permission: 'view' },
  getTask: { method: 'GET', path: '/v1/tasks/{id}', permission: 'view_tasks' },
  getTaskEvents: { method: 'GET', path: '/v1/tasks/{id}/events', permission: 'view_tasks' },
  giveAnswer: { method: 'POST', path: '/v1/answer', permission: 'signed_request' },
  healthz: { method: 'GET', path: '/healthz', permission: 'open' },
  heartbeatRun: { method: 'POST', path: '/v1/runs/{id}/heartbeat', permission: 'report_runs' },
  heartbeatRuns: { method: 'POST', path: '/v1/runs/heartbeat', permission: 'report_runs' },
  leaseRuns: { method: 'POST', path: '/v1/runs/lease', permission: 'work_runs' },
  listAlerts: { method: 'GET', path: '/v1/alerts', permission: 'view' },
  listAudit: { method: 'GET', path: '/v1/audit', permission: 'administer' },
  listBulk: { method: 'GET', path: '/v1/bulk', permission: 'operate' },
  listBulkItems: { method: 'GET', path: '/v1/bulk/{id}/items', permission: 'operate' },
  listDeadLetters: { method: 'GET', path: '/v1/dead-letters', permission: 'view' },
  listDefinitions: { method: 'GET', path: '/v1/definitions', permission: 'view' },
  listDeliveries: { method: 'GET', path: '/v1/outbox/{sequence}/deliveries', permission: 'view' },
  listErrors: { method: 'GET', path: '/v1/errors', permission: 'view' },
  listFunctions: { method: 'GET', path: '/v1/functions', permission: 'view' },
  listInstances: { method: 'GET', path: '/v1/instances', permission: 'view' },
  listKeys: { method: 'GET', path: '/v1/keys', permission: 'administer' },
  listOutbox: { method: 'GET', path: '/v1/outbox', permission: 'view' },
  listRunTypes: { method: 'GET', path: '/v1/run-types', permission: 'view' },
  listRuns: { method: 'GET', path: '/v1/runs', permission: 'view' },
  listSchedules: { method: 'GET', path: '/v1/schedules', permission: 'view' },
  listSignals: { method: 'GET', path: '/v1/signals', permission: 'view' },
  listTasks: { method: 'GET', path: '/v1/tasks', permission: 'view_tasks' },
  listViews: { method: 'GET', path: '/v1/views', permission: 'view_tasks' },
  livez: { method: 'GET', path: '/livez', permission: 'open' },
  metrics: { method: 'GET', path: '/metrics', permission: 'view' },
  openapi: { method: 'GET', path: '/openapi.json', permission: 'open' },
  pauseBulk: { method: 'POST', path: '/v1/bulk/{id}/pause', permission: 'operate' },
  pauseSchedule: { method: 'POST', path: '/v1/schedules/{name}/pause', permission: 'operate' },
  previewSchedule: { method: 'GET', path: '/v1/schedules/{name}/preview', permission: 'view' },
  putAlert: { method: 'PUT', path: '/v1/alerts/{id}', permission: 'operate' },
  putDraft: { method: 'PUT', path: '/v1/tasks/{id}/draft', permission: 'work_tasks' },
  putRunType: { method: 'PUT', path: '/v1/run-types/{type}', permission: 'operate' },
  putView: { method: 'PUT', path: '/v1/views/{id}', permission: 'view_tasks' },
  readyz: { method: 'GET', path: '/readyz', permission: 'open' },
  reassignTask: { method: 'POST', path: '/v1/tasks/{id}/reassign', permission: 'work_tasks' },
  receiveEvents: { method: 'POST', path: '/v1/events', permission: 'start' },
  receiveHook: { method: 'POST', path: '/v1/hooks/{id}', permission: 'signed_request' },
  releaseRun: { method: 'POST', path: '/v1/runs/{id}/release', permission: 'report_runs' },
  releaseRuns: { method: 'POST', path: '/v1/runs/release', permission: 'report_runs' },
  releaseTask: { method: 'POST', path: '/v1/tasks/{id}/release', permission: 'work_tasks' },
  replayDeadLetter: { method: 'POST', path: '/v1/dead-letters/{id}/replay', permission: 'operate' },
  reportRuns: { method: 'POST', path: '/v1/runs/report', permission: 'report_runs' },
  resendEvent: { method: 'POST', path: '/v1/outbox/{sequence}/resend', permission: 'operate' },
  resumeBulk: { method: 'POST', path: '/v1/bulk/{id}/resume', permission: 'operate' },
  resumeInstance: { method: 'POST', path: '/v1/instances/{id}/resume', permission: 'operate' },
  resumeSchedule: { method: 'POST', path: '/v1/schedules/{name}/resume', permission: 'operate' },
  retireDefinition: { method: 'DELETE', path: '/v1/definitions/{name}/{version}', permission: 'deploy' },
  retryInstance: { method: 'POST', path: '/v1/instances/{id}/retry', permission: 'operate' },
  revokeKey: { method: 'DELETE', path: '/v1/keys/{id}', permission: 'administer' },
  runRetention: { method: 'POST', path: '/v1/retention/run', permission: 'administer' },
  sendSignal: { method: 'POST', path: '/v1/signals', permission: 'start' },
  showAnswerPage: { method: 'GET', path: '/v1/answer', permission: 'open' },
  signalInstance: { method: 'POST', path: '/v1/instances/{id}/signals', permission: 'start' },
  skipStep: { method: 'POST', path: '/v1/instances/{id}/skip', permission: 'operate' },
  startBulk: { method: 'POST', path: '/v1/bulk', permission: 'operate' },
  startInstance: { method: 'POST', path: '/v1/instances', permission: 'start' },
  streamEvents: { method: 'GET', path: '/v1/events', permission: 'view' },
  submitRun: { method: 'POST', path: '/v1/runs', permission: 'start' },
  submitRuns: { method: 'POST', path: '/v1/runs/batch', permission: 'start' },
  suspendInstance: { method: 'POST', path: '/v1/instances/{id}/suspend', permission: 'operate' },
  triggerSchedule: { method: 'POST', path: '/v1/schedules/{name}/trigger', permission: 'operate' },
  verifyAudit: { method: 'GET', path: '/v1/audit/verify', permission: 'administer' },
  verifyStore: { method: 'GET', path: '/v1/verify', permission: 'operate' },
} as const;

export type Operation = keyof typeof operations;
export type Permission = (typeof operations)[Operation]['permission'];
