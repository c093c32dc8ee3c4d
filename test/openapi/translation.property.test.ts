import fc from 'fast-check';
import { test } from 'tap';

import { toOpenApi30 } from '../../src/openapi/schema/to-openapi-30.ts';
import { compileValueSchema } from '../../src/resource/schema/schema.ts';
import { validator30 } from './openapi-30.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 200);

/** Few names and values, so that schemas and values meet. */
const name = fc.constantFrom('a', 'b', 'c');
const leaf = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 3, 1.5, -1, '', 'a', 'ab', 'abc', 'B');
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const typeName = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const count = fc.integer({ min: 0, max: 3 });

const references = ['#', '#/$defs/a', '#/$defs/b', '#/$defs/c', '#anchor'];

const reference = fc.record({ $ref: fc.constantFrom(...references) });

function schemaWith(inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const many = fc.array(inner, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, inner, { maxKeys: 2 });
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 4 }),
    const: leaf,
    minimum: count,
    exclusiveMinimum: count,
    maximum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^\\p{Lu}', '^(?<x>a)'),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    minProperties: count,
    maxProperties: count,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), inner, { maxKeys: 2 }),
    additionalProperties: inner,
    unevaluatedProperties: inner,
    propertyNames: inner,
    items: inner,
    prefixItems: many,
    contains: inner,
    unevaluatedItems: inner,
    allOf: many,
    anyOf: many,
    oneOf: many,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: named,
    $ref: fc.constantFrom(...references),
    $defs: fc.record({ a: inner, b: inner }),
    description: fc.constant('a text'),
    readOnly: fc.boolean(),
    writeOnly: fc.boolean(),
    default: leaf,
    format: fc.constantFrom('date-time', 'int32', 'email'),
  };
  const keyword = Object.entries(keywords).map(([word, drawn]) => drawn.map((one) => [word, one] as const));
  return fc.array(fc.oneof(...keyword), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
}

const schema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), reference, schemaWith(tie('schema'))),
})).schema;

/** The definitions that references name are there. */
const root = fc.tuple(schemaWith(schema), schema, schema).map(([members, a, b]) => ({
  ...(members as object),
  $defs: { a, b, c: { type: 'string', $dynamicAnchor: 'anchor' } },
}));

test('every value that a schema accepts is accepted by its translation, and an exact one accepts no other', (t) => {
  const seen = { compiled: 0, accepted: 0, exact: 0, exactRefused: 0, references: 0 };
  fc.assert(
    fc.property(root, fc.array(value, { minLength: 12, maxLength: 12 }), (input, values) => {
      const compiled = compileValueSchema(input);
      if (!compiled.ok) return;
      seen.compiled += 1;
      const translated = toOpenApi30(compiled.schema, 'Drawn');
      const accepts = validator30(translated);
      if (translated.components.size > 0) seen.references += 1;
      // References that never end have no meaning (JSON Schema, 9.4.1), and the validator refuses values at its bound.
      const isExact = translated.isExact && !translated.isEndless;
      for (const each of values) {
        const isValid = compiled.violations(each).length === 0;
        const isTaken = accepts(each);
        if (isValid) seen.accepted += 1;
        if (isExact) seen.exact += 1;
        if (isExact && !isValid) seen.exactRefused += 1;
        if (isValid && !isTaken) throw new Error(`refused: ${JSON.stringify({ each, input, translated })}`);
        if (isExact && isTaken !== isValid)
          throw new Error(`not exact: ${JSON.stringify({ each, input, translated })}`);
      }
    }),
    { numRuns: runs },
  );
  t.comment(JSON.stringify(seen));
  for (const [what, times] of Object.entries(seen)) t.ok(times > runs / 20, `${what}: ${times.toString()}`);
  t.end();
});
