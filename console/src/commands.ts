// The same as a command line: `cairn …` and `curl …`.
import { link } from './base_path';

export const shell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
export const server = (): string => location.origin + link('');

export function curl(method: string, path: string, body?: string, signed_in = true): string {
  const parts = ['curl'];
  if (method !== 'GET') parts.push('-X', method);
  if (signed_in) parts.push('-H', '"Authorization: Bearer $CAIRN_TOKEN"');
  if (body !== undefined) parts.push('-H', "'Content-Type: application/json'", '-d', shell(body));
  parts.push(shell(server() + path));
  return parts.join(' ');
}

export const cairn_list = (filter: string): string => (filter ? `cairn list --filter ${shell(filter)}` : 'cairn list');
export const cairn_runs = (status: string, instance?: string): string => ['cairn runs list', status && `--status ${status}`, instance && `--instance ${shell(instance)}`].filter(Boolean).join(' ');
