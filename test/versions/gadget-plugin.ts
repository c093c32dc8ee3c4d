import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestServer } from '../support/server/start-server.ts';

/** A plugin on disk: its type Part had `title` in v1alpha1, and has `name` in v1. */

const schemaOf = (member: string): string =>
  `{ type: 'object', required: ['spec'], properties: {
    spec: { type: 'object', required: ['${member}'], additionalProperties: false, properties: {
      ${member}: { type: 'string', maxLength: 40 },
      size: { type: 'integer', default: 1 }, replicas: { type: 'integer' } } },
    status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } } } }`;

const typeOf = (version: string, member: string, more = ''): string => `{
  group: 'parts.example', version: '${version}', kind: 'Part', singular: 'part', plural: 'parts',
  statusSubresource: true, schema: ${schemaOf(member)},
  indexes: [{ name: 'spec.${member}', unique: ${String(more.includes('hooks'))} }],
  printerColumns: [{ name: 'Title', type: 'string', pointer: '/spec/${member}' }],
  scale: { specReplicas: '/spec/replicas', statusReplicas: '/status/replicas' },
  ${more}
}`;

const renamed = (from: string, to: string): string =>
  `(object) => {
    if (object.spec.${from} === 'unconvertible') throw new Error('boom');
    const { ${from}: value, ...spec } = object.spec;
    return { ...object, spec: { ...spec, ${to}: value } };
  }`;

export const versionsText = (alpha = ''): string => `
  versions: [
    { name: 'v1alpha1', schema: ${schemaOf('title')}, examples: [{ spec: { title: 'Lamp' } }],
      printerColumns: [{ name: 'Title', type: 'string', pointer: '/spec/title' }], ${alpha} },
    { name: 'v1', examples: [{ spec: { name: 'Lamp' } }] },
  ],
  convert: [{ from: 'v1alpha1', to: 'v1',
    up: ${renamed('title', 'name')}, down: ${renamed('name', 'title')} }],`;

const hooks = `hooks: {
  default: (object) => ({ ...object, spec: { ...object.spec, name: object.spec.name.trim() } }),
  validate: ({ apiVersion, spec }) =>
    apiVersion === 'parts.example/v1' && spec.name === 'bad' ? [{ pointer: '/spec/name', detail: 'is bad' }] : [],
},`;

/**
 * The plugin's module: `old` declares v1alpha1 only, `both` prefers v1, `strict` has hooks and a unique name too, and
 * `bare` exchanges only apiVersion.
 */
export const modules = {
  old: `export default { types: [${typeOf('v1alpha1', 'title')}] };`,
  both: `export default { types: [${typeOf('v1', 'name', versionsText())}] };`,
  strict: `export default { types: [${typeOf('v1', 'name', `${versionsText()} ${hooks}`)}] };`,
  deprecated: `export default { types: [${typeOf('v1', 'name', versionsText('deprecated: true'))}] };`,
  bare: `export default { types: [${typeOf('v1', 'title')}] };`,
};

export async function partsFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ledgerplane-parts-'));
}

export async function writeParts(folder: string, module: string, version: string): Promise<void> {
  await mkdir(join(folder, 'parts'), { recursive: true });
  await writeFile(join(folder, 'parts', 'main.mjs'), module);
  await writeFile(
    join(folder, 'parts', 'plugin.yaml'),
    'apiVersion: plugin.svc.run/v1alpha1\nkind: Plugin\nmetadata: { name: parts }\n' +
      `spec: { version: ${version}, main: main.mjs }\n`,
  );
}

export const alpha = '/apis/parts.example/v1alpha1/parts';
export const stable = '/apis/parts.example/v1/parts';
const merge = { 'content-type': 'application/merge-patch+json' };

export type Body = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly version: number; readonly resourceVersion: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
};

export type Sent = { readonly status: number; readonly body: Body; readonly headers: Headers };

/** The requests of the tests, and their answers. */
export function callsTo(server: TestServer) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Sent> => {
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const response = await server.call(path, init);
    return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
  };
  return {
    call,
    get: async (path: string, headers: Record<string, string> = {}) => call('GET', path, undefined, headers),
    create: async (path: string, name: string, spec: object) => call('POST', path, { metadata: { name }, spec }),
    patch: async (path: string, spec: object) => call('PATCH', path, { spec }, merge),
    merge: async (path: string, document: object) => call('PATCH', path, document, merge),
  };
}
