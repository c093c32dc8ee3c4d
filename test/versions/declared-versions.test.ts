import { test } from 'tap';

import { examplesPerVersionMax, versionsPerTypeMax } from '../../src/limits/objects.ts';
import { compiled, gadget, inVersion, problemsOf } from './gadgets.ts';

const [alpha, beta, v1] = gadget.versions;
const [first, second] = gadget.convert;

test('each served version is a type with its own path, schema and warning', async (t) => {
  const type = compiled(gadget);
  t.match(type, { version: 'v1', apiVersion: 'gadgets.example/v1', preferred: undefined });
  t.same(
    type.versions?.served.map(({ path }) => path),
    [
      '/apis/gadgets.example/v1alpha1/gadgets',
      '/apis/gadgets.example/v1beta1/gadgets',
      '/apis/gadgets.example/v1/gadgets',
    ],
  );
  const old = inVersion(type, 'v1alpha1');
  t.equal(old.preferred, type);
  t.equal(old.key, type.key);
  t.equal(old.deprecation, 'gadgets.example/v1alpha1 Gadget is deprecated; use gadgets.example/v1 Gadget');
  t.equal(inVersion(type, 'v1beta1').deprecation, undefined);
  t.match(old.check({ spec: { name: 'Lamp' } }).found, [{ pointer: '/spec/title' }]);
  t.same(type.declaration?.versions, ['v1alpha1', 'v1beta1', 'v1']);
  t.equal(type.declaration?.stored, 'v1');
  const unserved = compiled({ ...gadget, versions: [{ ...alpha, served: false }, beta, v1] });
  t.same(
    unserved.versions?.served.map(({ version }) => version),
    ['v1beta1', 'v1'],
  );
});

test('the shape depends on the versions, the rows on the conversions', async (t) => {
  const type = compiled(gadget);
  const plain = compiled({ ...gadget, convert: undefined });
  t.not(plain.declaration?.shape, type.declaration?.shape);
  t.not(plain.fingerprint, type.fingerprint);
  const unserved = compiled({ ...gadget, versions: [{ ...alpha, served: false }, beta, v1] });
  t.not(unserved.declaration?.shape, type.declaration?.shape);
  const other = compiled({
    ...gadget,
    convert: [{ ...first, up: (object: object) => first.up(object as never) }, second],
  });
  t.equal(other.declaration?.shape, type.declaration?.shape);
  t.not(other.fingerprint, type.fingerprint, 'rows are converted again');
  t.notSame(other.declaration?.unique, type.declaration?.unique, 'unique values may have changed');
});

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `v${String(index + 1)}`,
    ...(index === 0 ? {} : { schema: {} }),
  }));
const single = { ...gadget, convert: undefined };

const refused: readonly (readonly [what: string, declaration: object, problem: RegExp])[] = [
  ['no preferred version', { ...gadget, version: 'v2' }, /versions: must contain the preferred version "v2"/],
  [
    'a version twice',
    { ...gadget, versions: [alpha, alpha, beta, v1] },
    /\[1\]: name: "v1alpha1" must not appear twice/,
  ],
  [
    'a bad name',
    { ...gadget, versions: [{ ...alpha, name: 'one' }, beta, v1] },
    /versions\[0\]: name: must be of the form/,
  ],
  ['no list', { ...gadget, versions: 3 }, /versions: must be an array of at most 16 versions/],
  ['too many versions', { ...single, versions: many(versionsPerTypeMax + 1) }, /at most 16 versions/],
  ['no object', { ...gadget, versions: [3, alpha, beta, v1] }, /versions\[0\]: must be an object/],
  ['an unknown member', { ...gadget, versions: [{ ...alpha, servd: true }, beta, v1] }, /servd is not known.*served/],
  [
    'a schema twice',
    { ...gadget, versions: [alpha, beta, { ...v1, schema: {} }] },
    /versions\[2\]: schema is not known/,
  ],
  ['a bad schema', { ...gadget, versions: [{ ...alpha, schema: { type: 3 } }, beta, v1] }, /versions\[0\]: schema: /],
  [
    'a bad flag',
    { ...gadget, versions: [{ ...alpha, served: 'yes' }, beta, v1] },
    /served: must be true or false, is "yes"/,
  ],
  ['a bad warning', { ...gadget, versions: [{ ...alpha, deprecated: 'a\nb' }, beta, v1] }, /deprecated: must be/],
  [
    'bad columns',
    { ...gadget, versions: [{ ...alpha, printerColumns: 3 }, beta, v1] },
    /versions\[0\]: printerColumns/,
  ],
  ['bad examples', { ...gadget, versions: [{ ...alpha, examples: [3] }, beta, v1] }, /examples: must be an array/],
  [
    'too many examples',
    { ...gadget, versions: [{ ...alpha, examples: Array(examplesPerVersionMax + 1).fill({}) }, beta, v1] },
    /examples: must be an array of at most 16/,
  ],
  ['conversions of one version', { ...gadget, versions: undefined }, /convert: the type has no versions/],
  ['conversions that are no list', { ...gadget, convert: {} }, /convert: must be an array/],
  ['a conversion that is no object', { ...gadget, convert: [3] }, /convert\[0\]: must be an object/],
  ['no neighbours', { ...gadget, convert: [{ ...first, to: 'v1' }] }, /convert\[0\]: from and to must be neighbours/],
  [
    'a conversion twice',
    { ...gadget, convert: [first, first] },
    /convert\[1\]: has the same versions as an earlier entry/,
  ],
  [
    'half a conversion',
    { ...gadget, convert: [{ ...first, down: undefined }] },
    /convert\[0\]: down: must be a function/,
  ],
  [
    'no examples',
    { ...gadget, versions: [{ ...alpha, examples: [] }, beta, v1] },
    /examples: v1alpha1 needs an example/,
  ],
  [
    'an invalid example',
    { ...gadget, versions: [{ ...alpha, examples: [{ spec: {} }] }, beta, v1] },
    /examples of v1alpha1\[0\]: \/spec\/title/,
  ],
  [
    'a conversion that throws',
    {
      ...gadget,
      convert: [
        {
          ...first,
          up: () => {
            throw new Error('boom');
          },
        },
        second,
      ],
    },
    /conversion from gadgets.example\/v1alpha1 to gadgets.example\/v1beta1 threw: boom/,
  ],
  [
    'a conversion to another kind',
    {
      ...gadget,
      convert: [{ ...first, up: (object: object) => ({ ...first.up(object as never), kind: 'Other' }) }, second],
    },
    /returned a wrong result: it has the kind "Other": return the kind of the given object, "Gadget"/,
  ],
  ['a conversion to nothing', { ...gadget, convert: [{ ...first, up: () => undefined }, second] }, /not an object/],
  ['an async conversion', { ...gadget, convert: [{ ...first, up: async () => ({}) }, second] }, /wrong result/],
  [
    'a conversion that changes metadata',
    { ...gadget, convert: [{ ...first, up: (object: object) => ({ ...object, metadata: { name: 'x' } }) }, second] },
    /it changes metadata; only annotations may change: return metadata\.[a-z]+ as it was given/i,
  ],
  [
    'annotations that are no texts',
    {
      ...gadget,
      convert: [
        {
          ...first,
          up: ({ metadata, ...object }: { metadata: object }) => ({
            ...object,
            metadata: { ...metadata, annotations: { a: 1 } },
          }),
        },
        second,
      ],
    },
    /annotations is not an object of strings/,
  ],
  [
    'a conversion to an invalid object',
    { ...gadget, convert: [first, { ...second, up: (object: object) => ({ ...object, spec: { name: '' } }) }] },
    /becomes an invalid object of v1: \/spec\/name/,
  ],
  [
    'a conversion that does not come back the same',
    {
      ...gadget,
      convert: [
        first,
        {
          ...second,
          down: ({ spec: { name }, ...object }: { spec: { name: string } }) => ({ ...object, spec: { name } }),
        },
      ],
    },
    /examples of v1\[0\]: comes back changed from v1alpha1: \/spec\/size must be \{"width":2,"height":3\}, is absent/,
  ],
];

for (const [what, declaration, problem] of refused)
  test(`a declaration with ${what} is refused`, async (t) => {
    t.match(problemsOf(declaration).join('\n'), problem);
  });

test('a problem that the schemas of several versions share is reported once', async (t) => {
  const schema = { type: 'object', properties: { spec: { type: 'number', minimum: 'a' } } };
  const versions = [{ ...alpha, schema }, { ...beta, schema }, v1];
  const once = problemsOf({ ...gadget, schema, versions });
  t.match(once, [/^type Gadget: schema: .*minimum.* \(also in versions\[0\], versions\[1\]\)$/u]);
  t.equal(once.length, 1);
  t.match(problemsOf({ ...gadget, versions }), [/^type Gadget: versions\[0\]: schema: .* \(also in versions\[1\]\)$/u]);
});

test('of an example that comes back with many changes the first are named, cut to a length', async (t) => {
  const down = ({ spec, ...object }: { readonly spec: { readonly name: string } }) => ({
    ...object,
    spec: { name: spec.name, width: 7, height: 8, color: 'x'.repeat(100) },
  });
  const [, problem] = problemsOf({ ...gadget, convert: [first, { ...second, down }] });
  t.match(problem, /^type Gadget: convert: examples of v1beta1\[0\]: comes back changed from v1: /u);
  t.match(
    problem,
    /\/spec\/width must be 2, is 7; \/spec\/color must be "blue", is "x{79}…; \/spec\/height must be absent, is 8;/u,
  );
});

test('the largest numbers of versions and examples are accepted', async (t) => {
  const versions = [...many(versionsPerTypeMax)];
  t.same(problemsOf({ ...single, version: 'v1', versions }), []);
  const examples = Array(examplesPerVersionMax).fill({ spec: { title: 'Lamp' } });
  t.same(problemsOf({ ...gadget, versions: [{ ...alpha, examples }, beta, v1] }), []);
});
