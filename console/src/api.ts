// Requests to the server. Answers keep the text of their numbers.
import { link } from './base_path';
import { is_object, parse, stringify, type Json } from './json/lossless';
import type { Session } from './api_types';
import { server_away, session, session_lost, sign_in_ways, type SignedIn } from './session';
import { act_as } from './settings';

export interface FieldError {
  pointer?: string;
  detail: string;
  line?: number;
  column?: number;
}

export class Problem extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail: string, readonly errors: FieldError[] = [], readonly type = '') {
    super(detail || title);
  }
}

export interface Answer<T> {
  value: T;
  etag: string | null;
  bytes: number;
}

interface Options {
  credential?: string; // only for signing in
  body?: Json;
  text?: { type: string; body: string };
  reason?: string;
  match?: number; // the state version that the change is meant for
  key?: string; // idempotency key
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function problem_of(response: Response): Promise<Problem> {
  let document: Json = null;
  try {
    document = parse(await response.text());
  } catch {
    // A proxy may answer with a page.
  }
  const about = is_object(document) ? document : {};
  return new Problem(response.status, String(about.title ?? response.statusText), String(about.detail ?? ''), (about.errors as unknown as FieldError[]) ?? [], String(about.type ?? ''));
}

export async function request(method: string, path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  let body: string | undefined;
  if (options.text) {
    headers['content-type'] = options.text.type;
    body = options.text.body;
  } else if (options.body !== undefined) {
    headers['content-type'] = 'application/json';
    body = stringify(options.body);
  }
  if (method !== 'GET') {
    headers['x-cairn-csrf'] = session.value?.csrf ?? '';
    if (options.reason) headers['x-cairn-reason'] = encode_header(options.reason);
    if (options.match !== undefined) headers['if-match'] = `"${options.match}"`;
    if (options.key) headers['idempotency-key'] = options.key;
  }
  if (options.credential) headers.authorization = `Bearer ${options.credential}`;
  if (act_as.value && session.value?.auth === 'none') headers['x-cairn-user'] = encode_header(act_as.value);
  let response: Response;
  try {
    response = await fetch(link(path), { method, headers, body, signal: options.signal, credentials: 'same-origin' });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) server_away.value ??= Date.now();
    throw error;
  }
  if (response.status === 502 || response.status === 504) {
    server_away.value ??= Date.now();
    throw await problem_of(response);
  }
  server_away.value = null;
  if (response.status === 401 && path !== '/v1/session') {
    if (session.value) session_lost.value = true;
    session.value = null;
  }
  if (!response.ok) throw await problem_of(response);
  return response;
}

// The server reads headers as UTF-8; fetch takes one character for each byte.
const encode_header = (text: string): string => Array.from(new TextEncoder().encode(text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim().slice(0, 1000)), (byte) => String.fromCharCode(byte)).join('');

async function answer_of<T>(response: Response): Promise<Answer<T>> {
  const text = response.status === 204 ? 'null' : await response.text();
  return { value: (text === '' ? null : parse(text)) as T, etag: response.headers.get('etag'), bytes: text.length };
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await answer_of<T>(await request('GET', path, { signal }))).value;
}

export async function get_text(path: string, signal?: AbortSignal): Promise<string> {
  return (await request('GET', path, { signal })).text();
}

export async function send<T = Json>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Json, options: Options = {}): Promise<T> {
  return (await answer_of<T>(await request(method, path, { ...options, body }))).value;
}

export function query(path: string, values: Record<string, string | number | boolean | undefined | null>): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== null && value !== '') parts.set(name, String(value));
  const text = parts.toString();
  return text ? `${path}?${text}` : path;
}

export const part = (text: string): string => encodeURIComponent(text);

export async function load_session(): Promise<void> {
  try {
    const found = await get<Session>('/v1/session');
    sign_in_ways.value = found.sign_in;
    session.value = found.user === null ? null : (found as SignedIn);
  } catch (error) {
    if (error instanceof Problem && (error.status === 401 || error.status === 403)) session.value = null;
    else if (error instanceof Problem && error.status !== 502) throw error;
  }
}

export async function sign_in(api_key: string): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(api_key)) throw new Problem(401, 'Not a key', '');
  session.value = await send<SignedIn>('POST', '/v1/session', undefined, { credential: api_key });
  session_lost.value = false;
}

// Back from the provider, with its code.
export async function sign_in_with_code(code: string, state: string): Promise<void> {
  session.value = await send<SignedIn>('POST', '/v1/session/login', { code, state });
  session_lost.value = false;
}

export async function sign_out(): Promise<void> {
  await send('DELETE', '/v1/session');
  session_lost.value = false;
  session.value = null;
}
