// Requests of the elements to the server, from a page of another site, with a short-lived token.
import { parse, stringify, type Json } from '../json/lossless';

export class Refused extends Error {
  constructor(readonly status: number, detail: string, readonly errors: { pointer?: string; detail: string }[] = []) {
    super(detail);
  }
}

export interface Client {
  get_text(path: string, signal?: AbortSignal): Promise<string>;
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  send<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: Json, match?: number): Promise<T>;
}

export function client_of(server: string, token: string): Client {
  const ask = async (method: string, path: string, options: { body?: Json; match?: number; signal?: AbortSignal } = {}) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (options.body !== undefined) headers['content-type'] = 'application/json';
    if (options.match !== undefined) headers['if-match'] = `"${options.match}"`;
    const answer = await fetch(server.replace(/\/$/, '') + path, { method, headers, body: options.body === undefined ? undefined : stringify(options.body), signal: options.signal, credentials: 'omit', mode: 'cors' });
    const text = await answer.text();
    if (answer.ok) return text;
    let about: { detail?: string; title?: string; errors?: [] } = {};
    try {
      about = parse(text) as typeof about;
    } catch {
      // A proxy may answer with a page.
    }
    throw new Refused(answer.status, about.detail || about.title || answer.statusText, about.errors);
  };
  return {
    get_text: (path, signal) => ask('GET', path, { signal }),
    get: async <T>(path: string, signal?: AbortSignal) => parse(await ask('GET', path, { signal })) as T,
    send: async <T>(method: string, path: string, body?: Json, match?: number) => {
      const text = await ask(method, path, { body, match });
      return (text ? parse(text) : null) as T;
    },
  };
}
