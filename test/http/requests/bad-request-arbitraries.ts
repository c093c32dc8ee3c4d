import fc from 'fast-check';

import { adminAuthorization } from '../../support/server/start-server.ts';
import type { BadRequest } from './bad-request.ts';
import { badBody, hugeBodies, type BadBody } from './bad-request-bodies.ts';
import { head, held, refused, widgets } from './bad-request-parts.ts';
import { paths, queries } from './bad-request-targets.ts';

/** As a bad create, and as the same in chunks. */
function create({ what, statuses, bytes }: BadBody, chunkBytes?: number): BadRequest {
  if (chunkBytes === undefined) return refused({ what, statuses, method: 'POST', target: widgets, body: bytes });
  const chunks: Uint8Array[] = [head({ method: 'POST', target: widgets, headers: ['Transfer-Encoding: chunked'] })];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const part = bytes.subarray(at, at + chunkBytes);
    chunks.push(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]));
  }
  return { what: `${what}, in chunks`, statuses, ending: 'none', chunks: [...chunks, Buffer.from('0\r\n\r\n')] };
}

const bodies = fc.oneof(
  { weight: 5, arbitrary: badBody.map((body) => create(body)) },
  {
    weight: 1,
    arbitrary: fc.tuple(badBody, fc.integer({ min: 50, max: 5_000 })).map(([body, bytes]) => create(body, bytes)),
  },
  // A replacement and a patch may take what a create may not, and refuse all the more: no body here holds the right
  // name.
  {
    weight: 2,
    arbitrary: badBody.map(({ what, bytes }) =>
      refused({
        what: `${what}, as a replacement`,
        statuses: [400, 409, 422],
        method: 'PUT',
        target: held,
        body: bytes,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: badBody
      .filter(({ what, statuses }) => statuses.every((status) => status === 400) && what !== 'JSON that is no object')
      .map(({ what, bytes }) =>
        refused({
          what: `${what}, as a JSON Patch`,
          statuses: [400, 422],
          method: 'PATCH',
          target: held,
          headers: ['Content-Type: application/json-patch+json'],
          body: bytes,
        }),
      ),
  },
);

const operation = fc.constantFrom<unknown>(
  { op: 'test', path: '/spec/title', value: 'other' },
  { op: 'remove', path: '/spec/none' },
  { op: 'replace', path: '/nowhere/at/all', value: 1 },
  { op: 'move', from: '/spec', path: '/spec/inner' },
  { op: 'copy', from: '/none', path: '/spec/serial' },
  { op: 'add', path: 'spec', value: 1 },
  { op: 'add', path: '/spec/tags/99', value: 'a' },
  { op: 'add', path: '/__proto__/x', value: 1 },
  { op: 'add', path: '/constructor/prototype/x', value: 1 },
  { op: 'nope', path: '/spec' },
  { op: 'add' },
  { path: '/spec' },
  {},
  null,
  1,
  'add',
  [],
  { op: 'add', path: '/spec/size', value: 'x' },
  { op: 'remove', path: '/spec/title' },
  { op: 'remove', path: '' },
  { op: 'replace', path: '', value: null },
  { op: 'add', path: '/spec/a~2b', value: 1 },
  { op: 1, path: 2 },
  { op: 'replace', path: '/metadata/name', value: 'x' },
  { op: 'replace', path: '/metadata/uid', value: 'x' },
  { op: 'replace', path: '/kind', value: 'x' },
  { op: 'add', path: '/metadata/resourceVersion', value: '999999' },
);
const patches = fc
  .oneof(
    fc.array(operation, { minLength: 1, maxLength: 5 }).map((operations) => JSON.stringify(operations)),
    // Each doubles what the one before made.
    fc.integer({ min: 20, max: 990 }).map((count) =>
      JSON.stringify([
        { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(1_000) } },
        ...Array.from({ length: count }, (_, index) => ({
          op: 'copy',
          from: '/metadata',
          path: `/metadata/annotations/b${String(index)}`,
        })),
      ]),
    ),
    fc
      .integer({ min: 1_001, max: 5_000 })
      .map((count) =>
        JSON.stringify(Array.from({ length: count }, () => ({ op: 'test', path: '/spec/title', value: 'Held' }))),
      ),
  )
  .map((body) =>
    refused({
      what: 'a bad JSON Patch',
      statuses: [400, 409, 422],
      method: 'PATCH',
      target: held,
      headers: ['Content-Type: application/json-patch+json'],
      body: Buffer.from(body),
    }),
  );

const valid = Buffer.from(
  '{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"held"},"spec":{"title":"Changed"}}',
);
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 40,
});
const put = (
  what: string,
  statuses: readonly number[],
  headers: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<BadRequest> =>
  headers.map((lines) => refused({ what, statuses, method: 'PUT', target: held, headers: lines, body: valid }));
const heads = fc.oneof(
  put(
    'a media type',
    [415],
    fc
      .constantFrom(
        'text/plain',
        'application/xml',
        'application/x-yaml',
        'application/vnd.kubernetes.protobuf',
        'multipart/form-data; boundary=x',
        'application/json; charset=latin1',
        'application/json; charset=utf-16',
        'application/jsonx',
        '*/*',
        ';',
        'application/json-patch+json',
      )
      .map((type) => [`Content-Type: ${type}`]),
  ),
  put(
    'a Content-Encoding',
    [415],
    fc
      .oneof(
        fc.constantFrom('gzip', 'br', 'deflate', 'gzip, gzip', 'x', 'identity, gzip', '*'),
        printable.filter((word) => word.toLowerCase() !== 'identity'),
      )
      .map((coding) => [`Content-Encoding: ${coding}`]),
  ),
  put(
    'an If-Match',
    [412],
    fc
      .constantFrom('"999"', 'W/"0"', '"x"', '""', '"-1"', '"998","999"', '999', '"00000000000000000000"')
      .map((tag) => [`If-Match: ${tag}`]),
  ),
  put(
    'an If-Match that cannot be read',
    [400],
    fc.constantFrom('"999', '"998" "999"', '999x', ',').map((tag) => [`If-Match: ${tag}`]),
  ),
  // The last of so many counts as well.
  put(
    'an If-Match behind many headers',
    [412],
    fc
      .integer({ min: 900, max: 5_000 })
      .map((lines) => [...Array.from({ length: lines }, (_, index) => `X-${String(index)}: x`), 'If-Match: "999"']),
  ),
  put(
    'an expectation',
    [417],
    printable.filter((word) => !/100-continue/iu.test(word)).map((word) => [`Expect: ${word}`]),
  ),
  put(
    'somebody else',
    [403],
    printable.map((name) => [`Impersonate-User: ${name}`]),
  ),
  put(
    'another site',
    [403],
    fc.constantFrom('cross-site', 'same-site', 'x').map((site) => [`Sec-Fetch-Site: ${site}`]),
  ),
  put(
    'too much of a header',
    [431],
    fc.integer({ min: 131_072, max: 180_000 }).map((length) => [`X-Long: ${'x'.repeat(length)}`]),
  ),
  put(
    'too many headers',
    [431],
    fc
      .integer({ min: 4_000, max: 6_000 })
      .map((lines) =>
        Array.from({ length: lines }, (_, index) => `X-Header-Number-${String(index)}: and its value, too`),
      ),
  ),
  fc
    .tuple(
      fc.constantFrom('PUT', 'POST', 'DELETE', 'GET', 'PATCH'),
      fc.oneof(
        fc.constantFrom(
          '',
          'Basic',
          'Basic x',
          'Basic ====',
          'Basic Og==',
          'Basic YWRtaW4=',
          'Bearer x',
          'Digest a=b',
          'Negotiate',
          'Basic YWRtaW46AA==',
          'Basic AAAA',
          `Basic ${'A'.repeat(50_000)}`,
        ),
        printable.map((word) => `Bearer ${word}`),
        fc.constant(undefined),
      ),
    )
    .map(([method, authorization]) =>
      refused({
        what: 'garbled credentials',
        statuses: [401],
        method,
        target: held,
        authorization,
        ...(method === 'GET' ? {} : { body: valid }),
      }),
    ),
);

const methods = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('OPTIONS', 'TRACE', 'PROPFIND', 'LINK', 'PURGE', 'SEARCH', 'MKCOL', 'LOCK', 'QUERY'),
      fc.constantFrom(widgets, held, '/healthz', '/apis', `${held}/status`),
    )
    .map(([method, target]) => refused({ what: 'a method', statuses: [405, 400], method, target })),
  fc
    .constantFrom<readonly [string, string]>(
      ['PUT', widgets],
      ['PATCH', widgets],
      ['POST', held],
      ['POST', `${held}/status`],
      ['DELETE', `${held}/status`],
      ['POST', '/healthz'],
      ['DELETE', '/version'],
      ['PUT', '/apis'],
    )
    .map(([method, target]) => refused({ what: 'a method', statuses: [405], method, target, body: valid })),
  fc
    .constantFrom('example.com:443', 'localhost:1', 'x', '/', widgets)
    .map((target) => refused({ what: 'CONNECT', statuses: [400, 404, 405], method: 'CONNECT', target })),
);

const line = `POST ${widgets} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${adminAuthorization}\r\n`;
const wire = fc
  .oneof(
    fc
      .uint8Array({ minLength: 1, maxLength: 300 })
      .filter((bytes) => !/^[\r\n]*$/u.test(Buffer.from(bytes).toString('latin1')))
      .map((bytes) => Buffer.concat([bytes, Buffer.from('\r\n\r\n')])),
    fc
      .constantFrom(
        'GET / HTTP/1.1\r\n\r\n',
        'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
        'GET  HTTP/1.1\r\nHost: x\r\n\r\n',
        'get / HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET / HTTP/1.1\r\nHost : x\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n',
        'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n',
        'GET / FTP/1.1\r\nHost: x\r\n\r\n',
        ': x\r\n\r\n',
        `${line}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        `${line}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
        `${line}Content-Length: -1\r\n\r\n`,
        `${line}Content-Length: 1e3\r\n\r\n`,
        `${line}Content-Length: 99999999999999999999999\r\n\r\n`,
        `${line}Transfer-Encoding: gzip\r\n\r\n{}`,
        `${line}Transfer-Encoding: chunked, gzip\r\n\r\n{}`,
        `${line}X: a\nb\r\n\r\n`,
        `${line}X\r\n\r\n`,
        `${line}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
        `${line}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n`,
        `${line}Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n`,
        `${line}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`,
        `${line}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
      )
      .map((text) => Buffer.from(text, 'latin1')),
  )
  .map((bytes): BadRequest => ({ what: 'no HTTP', statuses: [400, 413, 431, 505], ending: 'half', chunks: [bytes] }));

const cut = fc
  .tuple(fc.nat(valid.length - 2), fc.boolean(), fc.constantFrom<'half' | 'gone'>('half', 'gone'))
  .map(([length, chunked, ending]): BadRequest => {
    const headers = chunked ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${String(valid.length)}`];
    const before = chunked ? Buffer.from(`${valid.length.toString(16)}\r\n`) : Buffer.alloc(0);
    return {
      what: 'a body cut short',
      statuses: ending === 'half' ? [400] : [400, 'cut'],
      ending,
      chunks: [head({ method: 'PUT', target: held, headers }), before, valid.subarray(0, length)],
    };
  });

const pipelined = fc
  .tuple(
    fc.integer({ min: 1, max: 20 }),
    fc.constantFrom('\0\0\0', 'garbage\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '{"a":1}\r\n\r\n'),
  )
  .map(([many, garbage]): BadRequest => ({
    what: 'pipelined garbage',
    statuses: [404, 400],
    ending: 'half',
    chunks: [
      Buffer.from(`GET /nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: ${adminAuthorization}\r\n\r\n`.repeat(many)),
      Buffer.from(garbage),
    ],
  }));

/** Of everything that HTTP can be got wrong in. */
export const badRequest: fc.Arbitrary<BadRequest> = fc.oneof(
  { weight: 10, arbitrary: bodies },
  { weight: 2, arbitrary: patches },
  { weight: 3, arbitrary: paths },
  { weight: 6, arbitrary: queries },
  { weight: 4, arbitrary: heads },
  { weight: 2, arbitrary: methods },
  { weight: 3, arbitrary: wire },
  { weight: 2, arbitrary: cut },
  { weight: 1, arbitrary: pipelined },
);

export const hugeRequests: readonly BadRequest[] = hugeBodies.flatMap((body) => [create(body), create(body, 65_536)]);
