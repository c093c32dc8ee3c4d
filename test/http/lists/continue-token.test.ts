import fc from 'fast-check';
import { test } from 'tap';

import { decodeToken, encodeToken, type ContinueToken } from '../../../src/http/resources/continue-token.ts';
import { logPosition } from '../../../src/log/log.ts';
import { widgetType } from '../../support/watched-type.ts';

const identity = { type: widgetType(), selects: [['a=b'], [], ['spec.size,desc']] };

const token: fc.Arbitrary<ContinueToken> = fc.record(
  {
    position: fc.bigInt({ min: 0n, max: 2n ** 63n }).map(logPosition),
    page: fc.nat(),
    after: fc.record(
      {
        keys: fc.array(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.double({ noNaN: true, noDefaultInfinity: true }).filter((key) => !Object.is(key, -0)),
            fc.constant(undefined),
          ),
          { maxLength: 4 },
        ),
        created: fc.nat(Number.MAX_SAFE_INTEGER),
        name: fc.string(),
      },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);

test('a token decodes to its input, and its characters need no escaping in a query', async (t) => {
  fc.assert(
    fc.property(token, (made) => {
      const text = encodeToken(made, identity);
      const decoded = decodeToken(text, identity);
      t.ok(decoded.ok && /^[\w-]+$/u.test(text));
      if (decoded.ok) t.strictSame(decoded.token, made);
    }),
    { numRuns: 100 },
  );
});

test('a token of another query or version is malformed, one of other indexes is expired', async (t) => {
  const [made] = fc.sample(token, 1);
  const text = encodeToken(made!, identity);
  t.match(decodeToken(text, { ...identity, selects: [[], [], []] }), { problem: 'malformed' });
  t.match(
    decodeToken(text, { ...identity, selects: [[], ['a=b'], ['spec.size,desc']] }),
    { problem: 'malformed' },
    'the same text elsewhere',
  );
  t.match(decodeToken(text, { ...identity, type: widgetType('gadgets') }), { problem: 'malformed' });
  t.match(decodeToken(text, { ...identity, type: { ...identity.type, version: 'v2' } }), { problem: 'malformed' });
  t.match(decodeToken(text, { ...identity, type: { ...identity.type, fingerprint: 'other' } }), { problem: 'expired' });
});

test('any other text is a malformed token', async (t) => {
  const [made] = fc.sample(token, 1);
  const parts = JSON.parse(Buffer.from(encodeToken(made!, identity), 'base64url').toString()) as unknown[];
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String().map((text) => text.replaceAll('=', '')),
      ),
      (text) => !decodeToken(text, identity).ok,
    ),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 6 }),
      fc.constantFrom<unknown>(null, true, -1, 1.5, '', 'x', [], {}, [[]], [true], '-1', '01'),
      (place, value) => {
        const forged = parts.with(place, value);
        fc.pre(JSON.stringify(forged) !== JSON.stringify(parts));
        const decoded = decodeToken(Buffer.from(JSON.stringify(forged)).toString('base64url'), identity);
        // A name and a list of keys may be forged: they only say where to go on.
        return !decoded.ok || (place === 5 && typeof value === 'string') || (place === 6 && Array.isArray(value));
      },
    ),
  );
  t.pass();
});
