import fc from 'fast-check';

import { watchClientFrameBytesMax } from '../../../src/limits/watches.ts';
import { adminAuthorization } from '../../support/server/start-server.ts';
import type { BadRequest } from './bad-request.ts';
import { head, held, widgets } from './bad-request-parts.ts';

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const version = 'Sec-WebSocket-Version: 13';
const asking = ['Connection: Upgrade, close', 'Upgrade: websocket'];

type Handshake = {
  readonly target?: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly authorization?: string;
};

/** Without the header that says the connection closes. */
function handshake({
  target = widgets,
  method = 'GET',
  headers = [key, version, ...asking],
  authorization = adminAuthorization,
}: Handshake): Buffer {
  const text = head({
    method,
    target,
    headers,
    authorization: authorization === 'none' ? undefined : authorization,
  }).toString('latin1');
  return Buffer.from(text.replace('Connection: close\r\n', ''), 'latin1');
}

function unopened(what: string, statuses: readonly number[], asked: Handshake): BadRequest {
  return { what, statuses, ending: 'none', chunks: [handshake(asked)] };
}

/** Handshakes that must be answered in HTTP. */
export const badHandshake: fc.Arbitrary<BadRequest> = fc.oneof(
  fc
    .constantFrom(
      [key, 'Sec-WebSocket-Version: 12'],
      [key, 'Sec-WebSocket-Version: x'],
      [key],
      [version],
      ['Sec-WebSocket-Key: short', version],
      ['Sec-WebSocket-Key:', version],
      [key, version, 'Sec-WebSocket-Protocol: ,'],
      [key, version, 'Sec-WebSocket-Protocol: a,a'],
      [key, version, 'Sec-WebSocket-Protocol: \x80'],
    )
    .map((headers) => unopened('a handshake', [400, 426], { headers: [...headers, ...asking] })),
  fc
    .constantFrom(
      'resourceVersion=x',
      'labelSelector=(',
      'timeoutSeconds=-1',
      'fieldSelector=none=1',
      'sendInitialEvents=true',
    )
    .map((query) => unopened("a socket's query", [400, 422], { target: `${widgets}?${query}` })),
  fc
    .constantFrom('/apis/example.com/v1alpha1/nothings', '/nowhere', `${held}/scale`, '/')
    .map((target) => unopened('a socket nowhere', [404], { target })),
  fc.constantFrom(`${widgets}/%2f`, `${widgets}/%`).map((target) => unopened("a socket's path", [400], { target })),
  fc
    .constantFrom('none', 'Basic x', 'Bearer x')
    .map((authorization) => unopened("a socket's credentials", [401], { authorization })),
  fc
    .array(fc.constantFrom('eA', '', '!', 'eA=', 'IA', 'eB'), { minLength: 1, maxLength: 3 })
    .chain((tokens) => fc.constantFrom('', ', x', ', x, y').map((others) => ({ tokens, others })))
    .map(({ tokens, others }) => {
      const offers = tokens.map((token) => `base64url.bearer.authorization.k8s.io.${token}`).join(', ');
      const headers = [key, version, ...asking, `Sec-WebSocket-Protocol: ${offers}${others}`];
      return unopened("a socket's tokens", [400, 401], { authorization: 'none', headers });
    }),
  fc.constantFrom('OPTIONS', 'TRACE', 'PURGE').map((method) => unopened("a socket's method", [400, 405], { method })),
  fc.constant(
    unopened('a socket of another site', [403], { headers: [key, version, ...asking, 'Sec-Fetch-Site: cross-site'] }),
  ),
  fc.constantFrom('h2c', 'TLS/1.0', 'x, y').map((protocol) =>
    unopened('another protocol', [404], {
      target: '/nowhere',
      headers: ['Connection: Upgrade, close', `Upgrade: ${protocol}`],
    }),
  ),
);

/** An open socket that breaks the protocol, and the code it must be closed with; without one the client has gone. */
export type BadFrames = BadRequest & { readonly closeCodes: readonly number[] | 'any' };

type Frame = { readonly first: number; readonly payload: Uint8Array; readonly masked?: boolean };

function frame({ first, payload, masked = true }: Frame): Buffer {
  const bit = masked ? 0x80 : 0;
  const { length } = payload;
  const header =
    length < 126
      ? Buffer.from([first, bit | length])
      : length < 65_536
        ? Buffer.from([first, bit | 126, length >> 8, length & 0xff])
        : Buffer.concat([
            Buffer.from([first, bit | 127, 0, 0, 0, 0]),
            Buffer.from(Uint32Array.of(length).buffer).reverse(),
          ]);
  return Buffer.concat([header, ...(masked ? [Buffer.alloc(4)] : []), payload]);
}

function broken(
  what: string,
  closeCodes: BadFrames['closeCodes'],
  bytes: Uint8Array,
  ending: BadRequest['ending'] = 'none',
): BadFrames {
  return { what, closeCodes, ending, statuses: [], chunks: [handshake({}), bytes] };
}

const payload = fc.uint8Array({ maxLength: 100 });
const opcode = fc.constantFrom(1, 2, 8, 9, 10);
export const badFrames: fc.Arbitrary<BadFrames> = fc.oneof(
  fc
    .tuple(opcode, payload)
    .map(([code, bytes]) =>
      broken('an unmasked frame', [1002], frame({ first: 0x80 | code, payload: bytes, masked: false })),
    ),
  fc
    .integer({ min: 1, max: 70_000 })
    .map((over) =>
      broken(
        'an oversized frame',
        [1009],
        frame({ first: 0x82, payload: Buffer.alloc(watchClientFrameBytesMax + over) }),
      ),
    ),
  fc
    .constantFrom(0xff, 0x7f)
    .map((byte) =>
      broken(
        'a frame of exabytes',
        [1009, 1002],
        Buffer.from([0x82, 0xff, byte, ...new Array<number>(7).fill(0xff), 0, 0, 0, 0]),
      ),
    ),
  fc
    .tuple(fc.constantFrom(3, 4, 5, 6, 7, 11, 15), payload)
    .map(([code, bytes]) => broken('a reserved opcode', [1002], frame({ first: 0x80 | code, payload: bytes }))),
  fc
    .tuple(fc.constantFrom(0x40, 0x20, 0x10, 0x70), opcode)
    .map(([bits, code]) =>
      broken('a reserved bit', [1002], frame({ first: 0x80 | bits | code, payload: Buffer.from('x') })),
    ),
  fc
    .constantFrom(8, 9, 10)
    .map((code) => broken('a control frame in fragments', [1002], frame({ first: code, payload: Buffer.alloc(2) }))),
  fc
    .tuple(fc.constantFrom(9, 10), fc.integer({ min: 126, max: 1_000 }))
    .map(([code, length]) =>
      broken('a long control frame', [1002], frame({ first: 0x80 | code, payload: Buffer.alloc(length) })),
    ),
  fc
    .constantFrom([0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80])
    .map((bytes) => broken('text that is none', [1007], frame({ first: 0x81, payload: Uint8Array.from(bytes) }))),
  fc.constant(broken('a continuation of nothing', [1002], frame({ first: 0x80, payload: Buffer.from('x') }))),
  fc.constant(
    broken(
      'two beginnings',
      [1002],
      Buffer.concat([
        frame({ first: 0x01, payload: Buffer.from('x') }),
        frame({ first: 0x81, payload: Buffer.from('x') }),
      ]),
    ),
  ),
  fc.constant(
    broken(
      'fragments without end',
      [1008, 1009],
      Buffer.concat(
        Array.from({ length: 200 }, (_, index) => frame({ first: index === 0 ? 1 : 0, payload: Buffer.from('x') })),
      ),
    ),
  ),
  fc
    .constantFrom(0, 999, 1004, 1005, 1006, 1015, 2_999, 5_000, 65_535)
    .map((code) =>
      broken('a close code', [1002], frame({ first: 0x88, payload: Uint8Array.of(code >> 8, code & 0xff) })),
    ),
  fc.constant(broken('half a close code', [1002], frame({ first: 0x88, payload: Uint8Array.of(3) }))),
  fc
    .tuple(payload, fc.constantFrom<'half' | 'gone'>('half', 'gone'))
    .map(([bytes, ending]) =>
      broken(
        'half a frame',
        'any',
        frame({ first: 0x82, payload: Buffer.concat([bytes, Buffer.from('end')]) }).subarray(0, -1),
        ending,
      ),
    ),
  fc
    .constantFrom<'half' | 'gone'>('half', 'gone')
    .map((ending) => broken('nothing more', 'any', Buffer.alloc(0), ending)),
  fc.uint8Array({ minLength: 4, maxLength: 200 }).map((bytes) => broken('random bytes', 'any', bytes, 'half')),
);
