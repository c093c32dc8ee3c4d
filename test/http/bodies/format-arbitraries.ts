/** Bodies, offers and Accept headers in the forms that Kubernetes' clients use, valid and broken. */
import fc from 'fast-check';

import { enveloped, message, type Fields } from '../../support/kubernetes-protobuf.ts';

const piece = fc.constantFrom(
  ...['a', 'metadata', 'name', 'spec', 'title', 'x', '1', '~', '"', "'", ':', ': ', '- ', '? ', '\n', '\n  ', ' '],
  ...['\t', '#', '&a ', '*a', '!', '!!str ', '{', '}', '[', ']', ',', '|', '>', '%YAML 1.1\n', '---\n', '...\n'],
  ...['<<', '.nan', '0x', '\\', '@', '\ufeff', '\0', '\r', '\u2028', '__proto__', 'é', '\u{1f600}', 'null', '+1e9'],
);
/** A widget. */
export const freshWidget = 'metadata: {name: fresh}\nspec: {title: x}\n';
export const yamlBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  { weight: 6, arbitrary: fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')) },
  { weight: 6, arbitrary: fc.array(piece, { maxLength: 20 }).map((pieces) => freshWidget + pieces.join('')) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('[', '{a: ', '- ', '? ', '&a [', '!!seq [', '"'), fc.integer({ min: 100, max: 20_000 }))
      .map(([open, depth]) => `${freshWidget}more: ${open.repeat(depth)}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 40 }))
      .map(([levels, width]) =>
        Array.from({ length: levels }, (_, level) =>
          level === 0
            ? 'a0: &a0 x'
            : `a${String(level)}: &a${String(level)} [${`*a${String(level - 1)},`.repeat(width)}]`,
        ).join('\n'),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('spec', 'metadata', '"spec"', '? spec\n', 'x'), fc.integer({ min: 2, max: 500 }))
      .map(([key, times]) => freshWidget + `${key}: {}\n`.repeat(times)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(piece, fc.integer({ min: 1_000, max: 30_000 }))
      .map(([text, times]) => (freshWidget + text.repeat(times)).slice(0, 100_000)),
  },
);

const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
const attributes: Fields = [
  [2, 'get'],
  [4, 'v1alpha1'],
  [5, 'widgets'],
];
const whole = enveloped(review, message([[2, message([[1, message(attributes)]])]]));

/** A message within a message, and so on. */
function nestedMessage(depth: number): Uint8Array {
  let inner: Uint8Array = message([]);
  for (let level = 0; level < depth; level += 1) inner = message([[1 + (level % 2), inner]]);
  return inner;
}

export const protobufBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.nat(whole.length).map((length) => whole.subarray(0, length)),
  fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(whole);
    bytes[at] = byte;
    return bytes;
  }),
  fc.uint8Array({ minLength: 1, maxLength: 200 }).map((more) => Buffer.concat([whole, more])),
  fc.uint8Array({ maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((raw) => enveloped(review, raw)),
  fc.integer({ min: 2, max: 3_000 }).map((depth) => enveloped(review, nestedMessage(depth))),
  fc.integer({ min: 100, max: 60_000 }).map((count) => enveloped(review, new Uint8Array(count).fill(0x0b))),
  fc
    .tuple(fc.constantFrom('Pod', '', 'SubjectAccessReview', 'DeleteOptions', '\0'), fc.constantFrom('v1', '', 'x/y/z'))
    .map(([kind, apiVersion]) => enveloped({ kind, apiVersion }, message([[2, message([])]]))),
  fc.integer({ min: 65_000, max: 70_000 }).map((length) => Buffer.concat([whole, Buffer.alloc(length)])),
);

const prefix = 'base64url.bearer.authorization.k8s.io.';
/** A subprotocol, often with a token that is not right. */
export const offer: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(...Array.from('abAB09_-')), maxLength: 40 }).map((token) => prefix + token),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => prefix + Buffer.from(bytes).toString('base64url')),
  fc.constantFrom(
    prefix,
    prefix.toUpperCase(),
    `x${prefix}YQ`,
    `${prefix}YQ==`,
    `${prefix}${prefix}YQ`,
    `${prefix}a b`,
  ),
  fc.integer({ min: 100, max: 20_000 }).map((length) => `${prefix}${'YWFh'.repeat(length / 4)}`),
  fc.constantFrom('', ' ', 'v4.channel.k8s.io', 'x', '"x"', 'a;b', '@'),
);

const mediaRange = fc
  .tuple(
    fc.constantFrom('application/json', 'application/yaml', '*/*', 'application/*', '*', 'text/html', 'x', '', ' '),
    fc.array(
      fc.oneof(
        fc.constantFrom('as=Table', 'as=PartialObjectMetadata', 'as=PartialObjectMetadataList', 'as=', 'as=Pod', 'as'),
        fc.constantFrom('as="Table"', 'as=APIGroupDiscoveryList', 'AS=Table', 'as=Table,', 'as="'),
        fc.constantFrom('v=v1', 'v=v1beta1', 'v=v2', 'v=v2beta1', 'v=', 'v="v1"'),
        fc.constantFrom('g=meta.k8s.io', 'g=apidiscovery.k8s.io', 'g=', 'g=x'),
        fc.constantFrom('q=0', 'q=1', 'q=0.5', 'q=x', 'q=-1', 'charset=utf-8', 'stream=watch', '', '='),
        fc.string({ unit: fc.constantFrom(...Array.from('asvgq=;"\\ 1')), maxLength: 8 }),
      ),
      { maxLength: 6 },
    ),
  )
  .map(([type, parameters]) => [type, ...parameters].join(';'));
export const accept: fc.Arbitrary<string> = fc
  .array(mediaRange, { minLength: 1, maxLength: 5 })
  .map((ranges) => ranges.join(','));
export const include: fc.Arbitrary<string> = fc.constantFrom(
  '',
  '',
  'includeObject=None',
  'includeObject=Object',
  'includeObject=Metadata',
  'includeObject=x',
);
