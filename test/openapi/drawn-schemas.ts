import fc from 'fast-check';

/** The names of members and the values that schemas are drawn of: few, so that schemas and values meet. */
export type Drawn = { readonly names: readonly string[]; readonly leaves: readonly unknown[] };

const few: Drawn = {
  names: ['a', 'b', 'c'],
  leaves: [null, true, false, 0, 1, 2, 3, 1.5, -1, '', 'a', 'ab', 'abc', 'B'],
};

export function drawnValues({ names, leaves }: Drawn = few): fc.Arbitrary<unknown> {
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...leaves),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
}

const typeName = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const count = fc.integer({ min: 0, max: 3 });
const references = ['#', '#/$defs/a', '#/$defs/b', '#/$defs/c', '#anchor'];
const reference = fc.record({ $ref: fc.constantFrom(...references) });

function schemaWith(inner: fc.Arbitrary<unknown>, { names, leaves }: Drawn): fc.Arbitrary<object> {
  const name = fc.constantFrom(...names);
  const leaf = fc.constantFrom(...leaves);
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
  return fc.array(fc.oneof(...keyword), { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as object);
}

/** Schemas with the definitions that their references name. */
export function drawnSchemas(drawn: Drawn = few): fc.Arbitrary<object> {
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), reference, schemaWith(tie('schema'), drawn)),
  }));
  return fc.tuple(schemaWith(schema, drawn), schema, schema).map(([members, a, b]) => ({
    ...members,
    $defs: { a, b, c: { type: 'string', $dynamicAnchor: 'anchor' } },
  }));
}
