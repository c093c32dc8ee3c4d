import fc from 'fast-check';
import { test } from 'tap';

import { servedTypes } from '../../../src/cli/types/served-types.ts';
import { typesFile } from '../../../src/cli/types/types-file.ts';
import { drawnSchemas } from '../../openapi/drawn-schemas.ts';
import { compileErrors, sameText } from '../../support/compiled.ts';
import { declared, documentOf, registered } from './api-document.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 200);

const names = ['a', 'b', '1', 'x-y', '$ref', 'readonly', 'constructor', "it's", '', 'é', 'a\u2028b'];
const leaves = [
  ...[null, true, false, 0, -1.5, 1e21, 'a', "it's", '"\\', '*/', '\u202e`${x}`', {}, []],
  ...[{ a: [1, 'b', { 'x-y': null }] }, [['nested'], { $ref: '#/nowhere' }], 'long '.repeat(40)],
];
const name = fc.constantFrom(...names);
const typeName = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const text = fc.constantFrom(
  'A text.',
  '*/ export const injected = 1; /*',
  '@ts-ignore',
  'a\n@ts-expect-error',
  'w '.repeat(99),
);
const defaulted = [
  { type: 'string', default: 'a' },
  { allOf: [{ default: 1 }] },
  { type: 'object', default: {}, properties: { a: { default: 0 }, b: { type: 'string' } } },
  { type: 'object', properties: { b: { type: 'string' } }, allOf: [{ properties: { b: { default: '' } } }] },
];
const anything = drawnSchemas({ names, leaves });

/** Schemas of the keywords that a type depends on, with any others among them. */
const typed = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie('schema');
  const some = fc.array(inner, { minLength: 1, maxLength: 3 });
  const leaf = fc.constantFrom(...leaves);
  const ofTypes = fc.record(
    {
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      description: text,
      nullable: fc.constant(true),
      properties: fc.dictionary(name, inner, { maxKeys: 3, noNullPrototype: true }),
      required: fc.uniqueArray(name, { maxLength: 4 }),
      additionalProperties: inner,
      items: inner,
    },
    { requiredKeys: ['type'], noNullPrototype: true },
  );
  const flat = fc.oneof(
    fc.record({ type: typeName }),
    fc.record({ enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 12 }), description: text }),
    fc.record({ const: leaf }),
    fc.boolean(),
    fc.constant({ $ref: '#/$defs/a' }),
    fc.constantFrom<object[]>(...defaulted),
  );
  const choices = fc.oneof(
    fc.record({ anyOf: some }),
    fc.record({ oneOf: some, description: text }),
    some.map((prefixItems) => ({ type: 'array', prefixItems, minItems: prefixItems.length, items: false })),
  );
  return { schema: fc.oneof({ maxDepth: 3 }, flat, choices, ofTypes, ofTypes) };
}).schema;

const typeSchema = fc.oneof(
  { weight: 1, arbitrary: anything },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.dictionary(name, typed, { maxKeys: 3, noNullPrototype: true }), fc.uniqueArray(name, { maxLength: 3 }))
      .map(([properties, required]) => ({
        type: 'object',
        properties,
        required,
        $defs: { a: true, b: true, c: true },
      })),
  },
);

test('the written types compile and are the types that defineType gives, for schemas of any keywords', async (t) => {
  const seed = Date.now();
  t.comment(`seed ${seed.toString()}`);
  const drawn = fc.sample(typeSchema, { numRuns: runs, seed });
  const types = drawn.flatMap((schema, index) => registered(declared(`Drawn${index.toString()}`, schema)) ?? []);
  t.ok(types.length > runs / 2, `${types.length.toString()} of ${runs.toString()} are accepted`);
  const file = typesFile(servedTypes(documentOf(types)));
  const kept = types.filter(({ schema }) => schema['properties'] !== undefined).length;
  t.ok(kept > runs / 4, `${kept.toString()} declare members`);
  const expected = types.map(({ kind, schema }) => {
    const named = `group: 'g.example', version: 'v1', kind: 'K', singular: 'k', plural: 'ks'`;
    const constant = kind.toLowerCase();
    return [
      `const ${constant} = defineType({ ${named}, schema: ${JSON.stringify(schema)} });`,
      `same<ObjectOf<typeof ${constant}>, written.${kind}>();`,
      `same<ObjectOf<typeof written.${constant}>, written.${kind}>();`,
    ].join('\n');
  });
  const imports = [
    `import { defineType, type ObjectOf } from 'ledgerplane/plugin';`,
    `import * as written from './written.ts';`,
  ];
  const errors = compileErrors(
    { 'written.ts': file, 'expected.ts': [...imports, sameText, ...expected].join('\n') },
    { allowImportingTsExtensions: true },
  );
  t.strictSame(errors.slice(0, 5), [], `with seed ${seed.toString()}`);
});
