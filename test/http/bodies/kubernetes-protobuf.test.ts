import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { test } from 'tap';

import { decodeKubernetesMessage } from '../../../src/http/body/decode-kubernetes-protobuf.ts';
import { accessReview, ownAccessReview } from '../../../src/http/body/review-messages.ts';
import { enveloped, message, type Fields } from '../../support/kubernetes-protobuf.ts';

const review = (raw: Uint8Array, kind = 'SelfSubjectAccessReview'): Uint8Array =>
  enveloped({ apiVersion: 'authorization.k8s.io/v1', kind }, raw);

/** The metadata of Go's typed clients: an ObjectMeta with its zero values. */
const emptyMetadata: Fields = [
  [1, ''],
  [3, ''],
  [8, message([[1, 0]])],
];
const attributes: Fields = [
  [1, 'default'],
  [2, 'get'],
  [3, 'example.com'],
  [4, ''],
  [5, 'widgets'],
  [6, ''],
  [7, ''],
];
const wholeReview = review(
  message([
    [1, message(emptyMetadata)],
    [2, message([[1, message(attributes)]])],
    [3, message([[1, 0]])],
  ]),
);

test('a review is decoded to its JSON form', async (t) => {
  t.strictSame(decodeKubernetesMessage(wholeReview, ownAccessReview), {
    ok: true,
    value: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          namespace: 'default',
          verb: 'get',
          group: 'example.com',
          version: '',
          resource: 'widgets',
          subresource: '',
          name: '',
        },
      },
    },
  });
});

test('repeated strings are collected, and fields without a meaning are skipped', async (t) => {
  const raw = message([
    [
      2,
      message([
        [3, 'anna'],
        [4, 'a'],
        [4, 'b'],
        [5, message([[1, 'scopes']])],
        [90, 7],
        [91, 'unknown'],
      ]),
    ],
  ]);
  t.strictSame(decodeKubernetesMessage(enveloped({}, raw), accessReview), {
    ok: true,
    value: { spec: { user: 'anna', groups: ['a', 'b'] } },
  });
});

test('a body of another kind, form or encoding is refused with the reason', async (t) => {
  const spec = (...fields: Fields): Uint8Array => review(message([[2, message(fields)]]));
  const cases: readonly (readonly [what: string, bytes: Uint8Array, detail: RegExp])[] = [
    ['nothing', new Uint8Array(), /begin with "k8s" and a zero byte/u],
    ['JSON', Buffer.from('{"kind":"SelfSubjectAccessReview"}'), /begin with "k8s" and a zero byte/u],
    ['another kind', review(message([]), 'Pod'), /the kind of the body must be "SelfSubjectAccessReview", is "Pod"/u],
    [
      'another version',
      enveloped({ apiVersion: 'v1' }, message([])),
      /the apiVersion of the body must be "authorization.k8s.io\/v1"/u,
    ],
    ['an encoding', enveloped({}, message([]), [[3, 'gzip']]), /without a contentEncoding/u],
    ['JSON within', enveloped({}, Buffer.from('{}'), [[4, 'application/json']]), /must be protobuf/u],
    ['a number for a message', review(message([[2, 1]])), /raw\.spec has the wire type 0, must have 2/u],
    ['a number for a string', spec([1, message([[2, 5]])]), /resourceAttributes\.verb has the wire type 0/u],
    [
      'two specs',
      review(
        message([
          [2, message([])],
          [2, message([])],
        ]),
      ),
      /raw\.spec appears twice/u,
    ],
    [
      'two kinds',
      enveloped({}, message([]), [
        [1, message([])],
        [1, message([])],
      ]),
      /typeMeta appears twice/u,
    ],
    ['malformed UTF-8', spec([1, message([[2, Uint8Array.of(0xff)]])]), /verb is not valid UTF-8/u],
    ['an overlong encoding', spec([1, message([[2, Uint8Array.of(0xc0, 0x80)]])]), /verb is not valid UTF-8/u],
    ['a group', review(Uint8Array.of(0x0b, 0x0c)), /the unknown wire type 3/u],
    ['an end of a group', review(Uint8Array.of(0x0c)), /the unknown wire type 4/u],
    ['a wire type that does not exist', review(Uint8Array.of(0x0f)), /the unknown wire type 7/u],
    ['field 0', review(Uint8Array.of(0x02, 0x00)), /field 0/u],
    ['a number of 11 bytes', review(Uint8Array.of(0x08, ...Array<number>(10).fill(0x80), 1)), /longer than 10 bytes/u],
    ['a tag of 6 bytes', review(Uint8Array.of(...Array<number>(5).fill(0x80), 1)), /longer than 5 bytes/u],
    ['a tag of 35 bits', review(Uint8Array.of(0x8a, 0x80, 0x80, 0x80, 0x7f, 0)), /more than 32 bits/u],
    ['a length past the end', review(Uint8Array.of(0x12, 0x7f, 0x00)), /truncated/u],
    ['a length of 4 GiB', review(Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f)), /truncated/u],
    ['a number without its end', review(Uint8Array.of(0x08, 0x80, 0x80, 0x80, 0x80)), /truncated/u],
    ['half of a fixed number', review(Uint8Array.of(0x0d, 1, 2)), /truncated/u],
  ];
  for (const [what, bytes, detail] of cases) {
    const decoded = decodeKubernetesMessage(bytes, ownAccessReview);
    t.equal(decoded.ok, false, what);
    t.match(decoded, { detail }, what);
  }
});

test('groups that nest deeply are refused at the first', async (t) => {
  const decoded = decodeKubernetesMessage(review(new Uint8Array(60_000).fill(0x0b)), ownAccessReview);
  t.match(decoded, { ok: false, detail: /wire type 3/u });
});

test('a body that is cut anywhere inside of its object is refused', async (t) => {
  for (let length = 0; length < wholeReview.length; length += 1) {
    const decoded = decodeKubernetesMessage(wholeReview.subarray(0, length), ownAccessReview);
    const lacksItsObject = decoded.ok && !('spec' in decoded.value);
    t.ok(!decoded.ok || lacksItsObject, `${String(length)} bytes`);
  }
});

test('no bytes are an exception, and those of a writer are read as they were written', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const body of [bytes, enveloped({}, bytes), review(message([[2, bytes]]))])
        decodeKubernetesMessage(body, accessReview);
    }),
    { numRuns: 5_000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.string()), (user, groups) => {
      const writer = protobuf.Writer.create().uint32(26).string(user);
      for (const group of groups) writer.uint32(34).string(group);
      t.strictSame(decodeKubernetesMessage(enveloped({}, message([[2, writer.finish()]])), accessReview), {
        ok: true,
        value: { spec: { user, ...(groups.length === 0 ? {} : { groups }) } },
      });
    }),
    { numRuns: 200 },
  );
});
