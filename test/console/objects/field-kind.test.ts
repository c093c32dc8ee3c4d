import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Field = {
  readonly kind: string;
  readonly isNullable: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
};
type FieldKind = { readonly fieldOf: (schema: object, components: object, value: unknown) => Field };

const { fieldOf } = await importConsoleModule<FieldKind>('pages/objects/form/field-kind.ts');
const kind = (schema: object, value?: unknown): string => fieldOf(schema, {}, value).kind;

test('each kind of schema has its field, and a value that does not suit it is YAML', async (t) => {
  t.equal(kind({ type: 'string' }), 'text');
  t.equal(kind({ type: 'string' }, 'two\nlines'), 'long-text');
  t.equal(kind({ type: 'string' }, { a: 1 }), 'yaml');
  t.equal(kind({ type: 'integer' }, 'text'), 'number');
  t.equal(kind({ type: 'boolean' }), 'choice');
  t.equal(kind({ enum: ['a', 1, null] }), 'choice');
  t.equal(kind({ enum: [{}] }), 'yaml');
  t.equal(kind({ type: 'string', format: 'date-time' }), 'date-time');
  t.equal(kind({ type: 'string', format: 'date-time' }, 'tomorrow'), 'text');
  t.equal(kind({ type: 'string', format: 'password', maxLength: 5_000 }), 'secret');
  t.equal(kind({ type: 'string', writeOnly: true }), 'secret');
  t.equal(kind({ type: 'string', writeOnly: true, maxLength: 5_000 }), 'long-text');
  t.equal(kind({ 'x-kubernetes-int-or-string': true }), 'int-or-string');
  t.equal(kind({ anyOf: [{ type: 'integer' }, { type: 'string' }] }), 'int-or-string');
  t.equal(kind({ type: 'array', items: { type: 'string' } }), 'array');
  t.equal(kind({ type: 'array', items: {} }), 'yaml');
  t.equal(kind({ type: 'object', additionalProperties: { type: 'string' } }), 'map');
  t.equal(kind({ type: 'object', additionalProperties: true }), 'yaml');
  t.equal(kind({ type: 'object', properties: { a: {} } }, [1]), 'yaml');
  t.equal(kind({}), 'yaml');
});

test('references, parts and alternatives are joined where that loses nothing', async (t) => {
  const components = { A: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
  const ref = { $ref: '#/components/schemas/A' };
  const joined = fieldOf({ allOf: [ref, { properties: { b: { type: 'integer' } }, required: ['b'] }] }, components, {});
  t.equal(joined.kind, 'members');
  t.strictSame(joined.schema['required'], ['a', 'b']);
  const nullable = fieldOf({ anyOf: [ref, { type: 'string', nullable: true, enum: [null] }] }, components, null);
  t.equal(nullable.kind, 'members');
  t.equal(nullable.isNullable, true);
  t.equal(
    kind({ type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    'members',
  );
  t.equal(kind({ oneOf: [{ type: 'string' }, { type: 'object' }] }), 'yaml');
  t.equal(fieldOf(ref, { A: ref }, undefined).kind, 'yaml', 'a reference to itself ends');
});
