// Makes src/api_types.ts from the server's OpenAPI document.
//   node types.mjs openapi.json           writes the file
//   node types.mjs openapi.json --check   fails if the file differs
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = join(dirname(fileURLToPath(import.meta.url)), 'src/api_types.ts');
const source = process.argv[2];
if (!source) {
  console.error('usage: node types.mjs openapi.json [--check]');
  process.exit(2);
}
const api = JSON.parse(readFileSync(source, 'utf8'));

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (schema) => (schema?.description ? ` // ${schema.description.replaceAll('\n', ' ')}` : '');

function type_of(schema, indent) {
  if (schema === true || schema === undefined || Object.keys(schema).length === 0) return 'Json';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.oneOf || schema.anyOf) return (schema.oneOf ?? schema.anyOf).map((one) => type_of(one, indent)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((one) => type_of({ ...schema, type: one }, indent)).join(' | ');
  switch (schema.type) {
    case 'string': return 'string';
    case 'integer':
    case 'number': return 'number';
    case 'boolean': return 'boolean';
    case 'null': return 'null';
    case 'array': {
      const item = type_of(schema.items, indent);
      return /^[\w]+$/.test(item) ? `${item}[]` : `(${item})[]`;
    }
    case 'object': return schema.properties ? members_of(schema, indent) : '{ [name: string]: Json }';
    default: return 'Json';
  }
}

function members_of(schema, indent) {
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties).map(([name, one]) => {
    const optional = (schema.required ?? []).includes(name) ? '' : '?';
    return `${inner}${key(name)}${optional}: ${type_of(one, inner)};${comment(one)}`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const lines = [
  '// Made by types.mjs from the OpenAPI document of the server. Do not edit.',
  "import type { Json } from './json/lossless';",
  '',
];
for (const [name, schema] of Object.entries(api.components.schemas)) {
  if (schema.type === 'object' && schema.properties) lines.push(`export interface ${name} ${members_of(schema, '')}`, '');
  else lines.push(`export type ${name} = ${type_of(schema, '')};`, '');
}
const operations = [];
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    operations.push(`  ${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}', permission: '${operation['x-permission']}' },`);
    const body = operation.requestBody?.content?.['application/json']?.schema;
    if (body?.properties) {
      const name = operation.operationId[0].toUpperCase() + operation.operationId.slice(1);
      lines.push(`export interface ${name}Request ${members_of(body, '')}`, '');
    }
  }
}
lines.push('export const operations = {', ...operations.sort(), '} as const;', '', 'export type Operation = keyof typeof operations;');
lines.push("export type Permission = (typeof operations)[Operation]['permission'];");
const text = `${lines.join('\n')}\n`;

if (process.argv.includes('--check')) {
  const present = readFileSync(file, 'utf8');
  if (present !== text) {
    console.error('console: src/api_types.ts differs from the OpenAPI document; run node types.mjs openapi.json');
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
}
