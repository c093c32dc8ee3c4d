import { createHash } from 'node:crypto';

import type { HeldValue } from '../../src/resource/type/held-values.ts';
import { isObject } from '../../src/base/guards.ts';
import type { Facts } from '../../src/command/facts.ts';
import type { JsonObject, JsonValue, Metadata, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { DeclaredBy } from '../../src/resource/type/declaration.ts';
import { indexFieldProblems } from '../../src/resource/type/index-field.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';

/**
 * The sample type and its objects. This file imports no test runner, so programs beside the tests can use it as well.
 */

export const domain = 'svc.run';

const declaration = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  singular: 'widget',
  plural: 'widgets',
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 100 },
          size: { type: 'integer' },
          serial: { type: 'string' },
          parent: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
          free: true,
        },
        required: ['title'],
        additionalProperties: false,
      },
      status: { type: 'object', properties: { phase: { type: 'string' } }, additionalProperties: false },
    },
    required: ['spec'],
  },
  indexes: [
    { name: 'spec.title' },
    { name: 'spec.size', type: 'number' },
    { name: 'spec.serial', unique: true },
    { name: 'spec.tags', multi: true },
    { name: 'status.phase' },
  ],
  statusSubresource: false,
};

/** Returns the sample type with `changes`, without the indexes that a changed schema excludes. */
export function widgetType(changes: Readonly<Record<string, unknown>> = {}, by?: DeclaredBy): ResourceType {
  const compiled = compileType(
    { ...declaration, indexes: indexesOf(changes['schema']), ...changes },
    { plugin: 'example', bundled: false, domain, ...(by && { by }) },
  );
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  return compiled.type;
}

function indexesOf(schema: unknown): readonly object[] {
  if (!isObject(schema)) return declaration.indexes;
  return declaration.indexes.filter(({ name }) => indexFieldProblems([{ name }], schema).length === 0);
}

export const widgets = widgetType();
export const widgetsWithStatus = widgetType({ statusSubresource: true });

export const earlier = '2026-01-01T00:00:00.000Z';
export const now = '2026-01-02T00:00:00.000Z';
export const uid = '11111111-1111-4111-8111-111111111111';
export const drawnUid = '22222222-2222-4222-8222-222222222222';

type Changes = {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: JsonObject;
  readonly [member: string]: unknown;
};

/** Returns a stored Widget: version 0 of `w1` with the given changes. */
export function widget({ metadata = {}, ...members }: Changes = {}): ResourceObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w1', uid, version: 0, generation: 1, creationTimestamp: earlier, ...metadata },
    spec: { title: 'One' },
    ...members,
  };
}

/** Returns the object of a client's request: without server-managed members unless they are given. */
export function body({
  metadata = {},
  ...members
}: { readonly metadata?: JsonValue; readonly [member: string]: JsonValue } = {}): JsonObject {
  const named = isObject(metadata) ? { name: 'w1', ...metadata } : metadata;
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: named, spec: { title: 'One' }, ...members };
}

/** Returns the unique values that a Widget holds, computed without the code under test. */
export function valuesOf(object: ResourceObject): readonly HeldValue[] {
  const spec = object['spec'] as Readonly<Record<string, unknown>> | undefined;
  const serial = spec?.['serial'];
  return typeof serial === 'string'
    ? [{ index: 'spec.serial', hash: createHash('sha256').update(serial).digest('hex') }]
    : [];
}

export const facts: Facts = {
  type: widgets,
  now,
  uid: drawnUid,
  suffix: 'x7k2p',
  domain,
  origin: 'client',
  fieldValidation: undefined,
  subject: { kind: 'platform', part: 'test' },
};
