import fc from 'fast-check';

/** Bodies that no write of a widget may take, each with what answers a create of it. */
export type BadBody = { readonly what: string; readonly bytes: Uint8Array; readonly statuses: readonly number[] };

const whole = {
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name: 'fresh' },
  spec: { title: 'A widget', size: 1, tags: ['a'] },
};
const text = JSON.stringify(whole);

function bad(
  what: string,
  statuses: readonly number[],
  bodies: fc.Arbitrary<string | Uint8Array>,
): fc.Arbitrary<BadBody> {
  return bodies.map((body) => ({ what, statuses, bytes: typeof body === 'string' ? Buffer.from(body) : body }));
}

/** `whole` with what lies at a path replaced. */
function having(path: readonly string[], value: unknown): string {
  const copy = structuredClone(whole) as unknown as Record<string, unknown>;
  let inner = copy;
  for (const member of path.slice(0, -1)) {
    inner[member] ??= {};
    inner = inner[member] as Record<string, unknown>;
  }
  inner[path.at(-1) ?? ''] = value;
  return JSON.stringify(copy);
}

const nothing = fc.constantFrom<unknown>(1, -1, 1.5, true, false, [], [1], [[]], [null]);
const noText = fc.oneof(nothing, fc.constantFrom<unknown>({}, { a: 1 }));
const noObject = fc.oneof(nothing, fc.constantFrom<unknown>('', 'text'));
const noCount = fc.constantFrom<unknown>('1', 'x', true, {}, [], 1.5, -1, 1001, 1e300);
const wrongTypes = fc
  .oneof(
    fc.tuple(
      fc.constantFrom(
        ['spec', 'title'],
        ['apiVersion'],
        ['kind'],
        ['metadata', 'name'],
        ['metadata', 'generateName'],
        ['spec', 'serial'],
        ['metadata', 'labels', 'a'],
        ['metadata', 'annotations', 'a'],
        ['metadata', 'resourceVersion'],
      ),
      noText,
    ),
    fc.tuple(fc.constantFrom(['spec'], ['metadata'], ['metadata', 'labels'], ['metadata', 'annotations']), noObject),
    fc.tuple(fc.constant(['spec', 'size']), noCount),
    fc.tuple(
      fc.constantFrom(['spec', 'tags'], ['metadata', 'finalizers'], ['metadata', 'ownerReferences']),
      fc.constantFrom<unknown>('a', 1, true, {}, [1], [{}], [[]], ['']),
    ),
  )
  .map(([path, value]) => having(path, value));

const control = fc.integer({ min: 0, max: 0x1f }).map((code) => String.fromCharCode(code));
const badName = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', 'a', 'a.b'),
      fc.oneof(
        control,
        fc.constantFrom('\0', '/', '\\', ' ', 'A', 'Ä', '_', '..', '\ud800', '😀', '%2F', ':', '\u202e'),
      ),
      fc.constantFrom('', 'b'),
    )
    .map((parts) => parts.join('')),
  fc.integer({ min: 254, max: 5_000 }).map((length) => 'a'.repeat(length)),
  fc.constantFrom('-a', 'a-', '.a', 'a.', '.', '..', 'a..b', '__proto__'),
);
const badKey = fc.oneof(
  badName.map((name) => `${name}/x`),
  fc.constantFrom('/', 'a/', '/a', 'a/b/c', ' ', 'ä', `a/${'b'.repeat(64)}`, `${'a'.repeat(254)}/b`, '-', 'a-'),
);

const utf8 = fc
  .tuple(
    fc.nat(20),
    fc.constantFrom(
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
      [0xf0, 0x9f],
    ),
  )
  .map(([at, bytes]) => {
    const place = text.indexOf('A widget');
    return Buffer.concat([
      Buffer.from(text.slice(0, place + (at % 8))),
      Buffer.from(bytes),
      Buffer.from(text.slice(place + (at % 8))),
    ]);
  });

const duplicates = fc
  .tuple(
    fc.constantFrom('apiVersion', 'metadata', 'spec', 'x', '', 'x\u2028', 'constructor'),
    fc.constantFrom('1', '{}', '"a"', 'null'),
    fc.boolean(),
  )
  .map(([key, value, escaped]) => {
    const again = escaped
      ? key.replaceAll(/./gsu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : key;
    return `{"${key}":${value},${text.slice(1, -1)},"${again}":${value}}`;
  });

const deep = fc
  .tuple(
    fc.integer({ min: 129, max: 1_000 }),
    fc.boolean(),
    fc.constantFrom<readonly [string, string]>(['{"spec":{"title":', '}}'], ['', ''], ['{"metadata":{"labels":', '}}']),
  )
  .map(([depth, objects, [before, after]]) => {
    const [open, close] = objects ? ['{"a":', '}'] : ['[', ']'];
    return `${before}${open.repeat(depth)}1${close.repeat(depth)}${after}`;
  });

function labels(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${String(index)}`, 'v']));
}

export const badBody: fc.Arbitrary<BadBody> = fc.oneof(
  {
    weight: 4,
    arbitrary: bad(
      'JSON cut short',
      [400],
      fc.integer({ min: 0, max: text.length - 1 }).map((length) => text.slice(0, length)),
    ),
  },
  {
    weight: 4,
    arbitrary: bad(
      'a stray byte in JSON',
      [400],
      fc
        .tuple(fc.nat(text.length - 1), fc.integer({ min: 0, max: 8 }))
        .map(([at, code]) => text.slice(0, at) + String.fromCharCode(code) + text.slice(at)),
    ),
  },
  {
    weight: 3,
    arbitrary: bad(
      'no JSON',
      [400],
      fc.constantFrom(
        '{',
        'nul',
        "{'a':1}",
        '{"a":1,}',
        '[1,]',
        '01',
        '1e999',
        '{"a":-1e999}',
        'NaN',
        'Infinity',
        '\ufeff{}',
        '{}{}',
        '"\\x"',
        '"\\ud8"',
        '/**/{}',
        'undefined',
        '+1',
        '.5',
        '--a=b',
        '<xml/>',
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: bad(
      'random bytes',
      [400],
      fc.uint8Array({ minLength: 1, maxLength: 200 }).filter((bytes) => !isJson(bytes)),
    ),
  },
  {
    weight: 1,
    arbitrary: bad('JSON that is no object', [400], fc.constantFrom('1', 'null', 'true', '"text"', '[]', '[{}]')),
  },
  { weight: 2, arbitrary: bad('too deep', [400], deep) },
  { weight: 2, arbitrary: bad('a duplicate key', [400], duplicates) },
  {
    weight: 1,
    arbitrary: bad(
      '__proto__',
      [400],
      fc.constantFrom(
        '{"__proto__":{"a":1}}',
        '{"spec":{"__proto__":null}}',
        '{"metadata":{"labels":{"\\u005f_proto__":"x"}}}',
        '[{"__proto__":1}]',
      ),
    ),
  },
  { weight: 2, arbitrary: bad('malformed UTF-8', [400], utf8) },
  { weight: 8, arbitrary: bad('a wrong type', [400, 422], wrongTypes) },
  {
    weight: 3,
    arbitrary: bad(
      'a bad name',
      [400, 422],
      badName.filter((name) => name !== '').map((name) => having(['metadata', 'name'], name)),
    ),
  },
  {
    weight: 2,
    arbitrary: bad(
      'a bad label',
      [422],
      fc.oneof(
        badKey.map((key) => having(['metadata', 'labels'], { [key]: 'v' })),
        fc
          .oneof(
            control,
            fc.integer({ min: 254, max: 2_000 }).map((length) => 'v'.repeat(length)),
          )
          .map((value) => having(['metadata', 'labels'], { l: value })),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: bad(
      'a bad finalizer',
      [422],
      badKey.map((key) => having(['metadata', 'finalizers'], [key])),
    ),
  },
  {
    weight: 1,
    arbitrary: bad(
      'too many labels',
      [422],
      fc.integer({ min: 257, max: 3_000 }).map((count) => having(['metadata', 'labels'], labels(count))),
    ),
  },
  {
    weight: 1,
    arbitrary: bad(
      'too many finalizers',
      [422],
      fc.integer({ min: 65, max: 500 }).map((count) => having(['metadata', 'finalizers'], Object.keys(labels(count)))),
    ),
  },
  {
    weight: 2,
    arbitrary: bad(
      'another type',
      [400],
      fc.constantFrom(
        having(['kind'], 'Gadget'),
        having(['kind'], 'widget'),
        having(['apiVersion'], 'v1'),
        having(['apiVersion'], 'example.com/v1'),
        having(['apiVersion'], ''),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: bad(
      'a resourceVersion in a create',
      [400],
      fc.constantFrom('1', '0', 'x').map((version) => having(['metadata', 'resourceVersion'], version)),
    ),
  },
  {
    weight: 2,
    arbitrary: bad(
      'a broken rule of the schema',
      [422],
      fc.constantFrom(
        having(['spec'], {}),
        having(['spec', 'title'], ''),
        having(['spec', 'title'], 'x'.repeat(101)),
        having(['spec', 'unknown'], 1),
        having(['spec', 'tags'], ['']),
        having(
          ['spec', 'tags'],
          Array.from({ length: 51 }, () => 'a'),
        ),
      ),
    ),
  },
);

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Bodies past every bound: few of them, as each costs as much as a thousand of the others. */
export const hugeBodies: readonly BadBody[] = [
  { what: '10 MB of JSON', statuses: [413], bytes: Buffer.from(having(['spec', 'title'], 'x'.repeat(10_485_760))) },
  { what: '10 MB of brackets', statuses: [413], bytes: Buffer.alloc(10_485_760, '[') },
  { what: '100,000 labels', statuses: [413, 422], bytes: Buffer.from(having(['metadata', 'labels'], labels(100_000))) },
  {
    what: 'a name of a megabyte',
    statuses: [422],
    bytes: Buffer.from(having(['metadata', 'name'], 'x'.repeat(1_000_000))),
  },
  {
    what: 'an object past its bound',
    statuses: [422],
    bytes: Buffer.from(having(['metadata', 'annotations'], { a: 'x'.repeat(800_000) })),
  },
  { what: '60,000 labels', statuses: [422], bytes: Buffer.from(having(['metadata', 'labels'], labels(60_000))) },
  { what: '500,000 colons', statuses: [400], bytes: Buffer.alloc(1_000_000, ':{') },
];
