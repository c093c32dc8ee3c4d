import fc from 'fast-check';

import type { BadRequest } from './bad-request.ts';
import { held, refused, widgets } from './bad-request-parts.ts';

const get = (what: string, statuses: readonly number[], targets: fc.Arbitrary<string>): fc.Arbitrary<BadRequest> =>
  targets.map((target) => refused({ what, statuses, method: 'GET', target }));
const badSegment = fc.oneof(
  fc.constantFrom(
    '%',
    '%2',
    '%zz',
    '%ff',
    '%c0%80',
    '%ed%a0%80',
    '%2f',
    '%2F',
    'a%2fb',
    '%5c',
    'a%5Cb',
    '%00',
    'a%00',
    '.',
    '..',
    '%2e',
    '%2e%2e',
    '.%2E',
  ),
  fc
    .uint8Array({ minLength: 1, maxLength: 3 })
    .map((bytes) => `%00${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`),
);
/** Paths that cannot be decoded, are too long, or lead nowhere. */
export const paths = fc.oneof(
  get(
    'a malformed path',
    [400],
    badSegment.map((segment) => `${widgets}/${segment}`),
  ),
  get(
    'a malformed path',
    [400],
    badSegment.map((segment) => `/${segment}/x`),
  ),
  get(
    'an unknown path',
    [404],
    fc.oneof(
      fc
        .array(
          fc.constantFrom(
            'apis',
            'api',
            'x',
            '-',
            'widgets',
            'example.com',
            'v1',
            '%20',
            '%C3%A9',
            '%F0%9F%98%80',
            '__proto__',
            'constructor',
            'hasOwnProperty',
            '%25',
          ),
          { minLength: 4, maxLength: 12 },
        )
        .map((segments) => `/nowhere/${segments.join('/')}`),
      fc.constantFrom(
        `${widgets}/%EF%BB%BF`,
        `${widgets}/__proto__`,
        `${held}/__proto__`,
        '/apis/__proto__/v1/x',
        '/apis/example.com/constructor',
        `${widgets}/${'a'.repeat(5_000)}`,
        `${held}/status/more`,
      ),
    ),
  ),
  get(
    'a target past its bound',
    [400],
    fc.integer({ min: 65_537, max: 100_000 }).map((length) => `${widgets}?labelSelector=${'a'.repeat(length)}`),
  ),
  fc.integer({ min: 131_072, max: 200_000 }).map((length) =>
    refused({
      what: 'a head past its bound',
      statuses: [431],
      method: 'GET',
      target: `${widgets}?labelSelector=${'a'.repeat(length)}`,
    }),
  ),
);

const broken = fc.constantFrom(
  '(',
  ')',
  'a in',
  'a in (',
  'a in ()b',
  'a=(b',
  'a==b=c',
  '=',
  '!=',
  ',',
  'a,,b',
  'a b',
  'a notin b',
  '!',
  '!!a',
  'a\\',
  'a=\\x',
  'a<<1',
  '\0',
  'a=b\0,(',
  `${'a='.repeat(3_000)}(`,
  'x'.repeat(20_000),
  Array.from({ length: 65 }, (_, index) => `l${String(index)}=v`).join(','),
  `a in (${Array.from({ length: 257 }, (_, index) => String(index)).join(',')})`,
  '%EF%BF',
);
const count = fc.constantFrom(
  '-1',
  'x',
  '1.5',
  '1e3',
  ' ',
  '0x1',
  '99999999999999999999',
  '１',
  'NaN',
  '+1',
  '1,2',
  '\0',
);
const pair = (name: string, value: string): string => `${name}=${encodeURIComponent(value)}`;
const parameters = fc.oneof(
  fc.tuple(fc.constantFrom('labelSelector', 'fieldSelector'), broken).map(([name, value]) => pair(name, value)),
  fc.tuple(fc.constantFrom('page', 'size', 'limit'), count).map(([name, value]) => pair(name, value)),
  fc
    .tuple(
      fc.constantFrom('sort', 'fieldSelector'),
      fc.constantFrom('spec.none', 'none', '__proto__', 'metadata', 'spec.title.x', 'constructor'),
    )
    .map(([name, field]) => pair(name, name === 'sort' ? field : `${field}=x`)),
  fc.constantFrom(
    'sort=spec.title,up',
    'sort=,',
    'sort=spec.size,desc,asc',
    'page=1&limit=1',
    'size=1&continue=x',
    Array.from({ length: 9 }, () => 'sort=spec.title').join('&'),
    Array.from({ length: 65 }, () => 'a=b').join('&'),
  ),
  fc
    .oneof(
      fc.constantFrom('e30', 'W10', '!', 'null', 'AAAA', 'A'.repeat(40_000), 'WzEsMiwzLDQsNSw2LDdd'),
      fc.base64String({ minLength: 1, maxLength: 60 }),
    )
    .map((token) => `limit=1&${pair('continue', token)}`),
  fc.constantFrom(
    'resourceVersion=x',
    'resourceVersion=-1',
    `resourceVersion=${'9'.repeat(25)}`,
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=x&resourceVersion=1',
  ),
);
const watchParameters = fc.constantFrom(
  'resourceVersion=x',
  'resourceVersion=-1',
  `resourceVersion=${'9'.repeat(40)}`,
  'timeoutSeconds=-1',
  'timeoutSeconds=x',
  `timeoutSeconds=${'9'.repeat(30)}`,
  'sendInitialEvents=maybe',
  'sendInitialEvents=true',
  'sendInitialEvents=true&resourceVersionMatch=Exact',
  'allowWatchBookmarks=2',
  'resourceVersionMatch=NotOlderThan',
  'labelSelector=(',
  'fieldSelector=none=1',
  'fieldSelector=spec.size=%00(',
);
/** Queries of lists, watches and writes that must be refused. */
export const queries = fc.oneof(
  get(
    'a bad query',
    [400, 422],
    parameters.map((query) => `${widgets}?${query}`),
  ),
  get(
    'a bad watch',
    [400, 422],
    watchParameters.map((query) => `${widgets}?watch=true&${query}`),
  ),
  watchParameters.map((query) =>
    refused({
      what: 'a bad event source',
      statuses: [400, 422],
      method: 'GET',
      target: `${widgets}?${query}`,
      headers: ['Accept: text/event-stream'],
    }),
  ),
  fc
    .tuple(
      fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
      fc.constantFrom('dryRun=all', 'dryRun=None', 'dryRun=All&dryRun=x'),
    )
    .map(([method, query]) =>
      refused({
        what: 'a bad dryRun',
        statuses: [400, 422],
        method,
        target: `${method === 'POST' ? widgets : held}?${query}`,
        headers: method === 'PATCH' ? ['Content-Type: application/merge-patch+json'] : [],
        body: Buffer.from(
          '{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"held"},"spec":{"title":"Held"}}',
        ),
      }),
    ),
  get('a deletion of no selection', [405, 404], fc.constant('/apis/example.com/v1alpha1/nothings')),
);
