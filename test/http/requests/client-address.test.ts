import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type Test } from 'tap';

import type { Sender } from '../../../src/http/exchange.ts';
import { createSenderOf } from '../../../src/http/client/client-address.ts';
import { forwardedHopLengthMax, forwardedHopsMax } from '../../../src/limits/addresses.ts';

type Headers = Readonly<Record<string, string | string[]>>;

/** The sender that a real server sees, which trusts `proxies` and listens on `host`. */
async function given(t: Test, proxies: readonly string[], host = '127.0.0.1') {
  const senderOf = createSenderOf(proxies);
  const server = createServer({ maxHeaderSize: 131_072 }, (req, res) => {
    res.end(JSON.stringify(senderOf(req)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return async (headers: Headers = {}, from = '127.0.0.1', to = '127.0.0.1'): Promise<Sender> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          host: to,
          port,
          localAddress: from,
          headers: headers as IncomingHttpHeaders as Record<string, string>,
          agent: false,
        },
        (res) => {
          let text = '';
          res
            .setEncoding('utf8')
            .on('data', (chunk: string) => {
              text += chunk;
            })
            .on('end', () => {
              resolve(JSON.parse(text) as Sender);
            });
        },
      );
      sent.on('error', reject).end();
    });
}

test('headers of an untrusted peer are ignored', async (t) => {
  const sent = {
    'x-forwarded-for': '192.0.2.1',
    forwarded: 'for=192.0.2.1',
    'x-forwarded-proto': 'https',
    'x-real-ip': '192.0.2.1',
  };
  for (const proxies of [[], ['127.0.0.9', '10.0.0.0/8', '::1']]) {
    const senderOf = await given(t, proxies);
    t.strictSame(await senderOf(sent), await senderOf());
    t.match(await senderOf(sent, '127.0.0.3'), { address: '127.0.0.3', isSecure: false });
  }
});

test('the address is the first one from the right that is not a trusted proxy', async (t) => {
  const senderOf = await given(t, ['127.0.0.0/8', '10.0.0.0/8', '2001:db8:ffff::/48']);
  const cases: readonly [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['6.6.6.6, 192.0.2.1', '192.0.2.1'],
    ['6.6.6.6,192.0.2.1 ,\t10.1.2.3', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['192.0.2.1:65535', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['192.0.2.1, ::FFFF:10.0.0.1, 2001:db8:ffff::5', '192.0.2.1'],
    ['10.0.0.1', '10.0.0.1'],
    ['10.0.0.2, 10.0.0.1', '10.0.0.2'],
  ];
  for (const [header, address] of cases)
    t.equal((await senderOf({ 'x-forwarded-for': header })).address, address, header);
  t.equal(
    (await senderOf({ 'X-Forwarded-For': ['6.6.6.6', '192.0.2.1', '10.0.0.1'] })).address,
    '192.0.2.1',
    'several lines are one list',
  );
  const forwarded: readonly [string, string][] = [
    ['for=192.0.2.1', '192.0.2.1'],
    ['For="192.0.2.1:80";proto=https;by=10.0.0.1', '192.0.2.1'],
    ['for="[2001:db8::1]:80"', '2001:db8::1'],
    ['for="[::1]:80"', '::1'],
    ['for=6.6.6.6, for=192.0.2.1;host=a.example , proto=http;for=10.0.0.1', '192.0.2.1'],
    ['for=192.0.2.1:80', '192.0.2.1'],
    ['for=192.0.2.1;host="x,for=6.6.6.6;y=\\""', '192.0.2.1'],
    ['for=192.0.2.1;host="\\\\"', '192.0.2.1'],
    ['host=",for=6.6.6.6,\\"";for=192.0.2.1', '192.0.2.1'],
    ['host="x;for=6.6.6.6;";for=192.0.2.1', '192.0.2.1'],
    ['for=", for=6.6.6.6, for=192.0.2.1', '192.0.2.1'],
    ['for=192.0.2.1;', '192.0.2.1'],
  ];
  for (const [header, address] of forwarded) t.equal((await senderOf({ forwarded: header })).address, address, header);
});

test('an entry without an address ends the walk at the last named hop', async (t) => {
  const senderOf = await given(t, ['127.0.0.1', '10.0.0.0/8']);
  const malformed = [
    '',
    ' ',
    ',',
    '"',
    'unknown',
    '_hidden',
    'example.org',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '0x7f.1',
    '01.2.3.4',
    '1.2.3.4:',
    '1.2.3.4:99999999',
    '[1.2.3.4]',
    '[::1',
    '::1]',
    'fe80::1%lo:80',
    '::g',
    '%00',
    'null',
    '-1',
    '1.2.3.4 5.6.7.8',
    '\u00ff',
    '{}',
    '9'.repeat(600),
  ];
  for (const text of malformed) {
    t.equal((await senderOf({ 'x-forwarded-for': text })).address, '127.0.0.1', text);
    t.equal((await senderOf({ 'x-forwarded-for': `6.6.6.6, ${text}, 10.0.0.1` })).address, '10.0.0.1', text);
    t.equal(
      (await senderOf({ 'x-forwarded-for': `${text}, 192.0.2.1, 10.0.0.1` })).address,
      '192.0.2.1',
      `what comes before does not matter: ${text}`,
    );
  }
  const elements = [
    'for=unknown',
    'for=_hidden',
    'for="_hidden:_port"',
    'for="unknown:80"',
    'for=',
    'for',
    '=',
    ';;',
    'proto=https',
    'for=6.6.6.6;for=7.7.7.7',
    'for="6.6.6.6',
    'for=6.6.6.6"',
    'for = 6.6.6.6',
    "for='6.6.6.6'",
    'f\u00f6r=6.6.6.6',
    'for="6.6.6.6\\"',
    '6.6.6.6',
    'for="6.6.\\6.6"',
    `for=6.6.6.6;x=${'y'.repeat(600)}`,
  ];
  for (const text of elements) {
    t.equal((await senderOf({ forwarded: text })).address, '127.0.0.1', text);
    t.equal((await senderOf({ forwarded: `for=6.6.6.6, ${text}, for=10.0.0.1` })).address, '10.0.0.1', text);
    t.equal((await senderOf({ forwarded: `${text}, for=192.0.2.1, for=10.0.0.1` })).address, '192.0.2.1', text);
  }
});

test('where Forwarded and X-Forwarded-For name different clients both are ignored', async (t) => {
  const senderOf = await given(t, ['127.0.0.1', '10.0.0.1']);
  t.equal(
    (await senderOf({ forwarded: 'for=192.0.2.1, for=10.0.0.1', 'x-forwarded-for': '192.0.2.1' })).address,
    '192.0.2.1',
  );
  t.equal((await senderOf({ forwarded: 'for=6.6.6.6', 'x-forwarded-for': '192.0.2.1' })).address, '127.0.0.1');
  t.equal((await senderOf({ forwarded: 'for=192.0.2.1', 'x-forwarded-for': '' })).address, '127.0.0.1');
});

test('the number of hops and their lengths are bounded, for any length of the header', async (t) => {
  const senderOf = await given(t, ['127.0.0.1', '10.0.0.0/8']);
  const hops = (count: number) => Array.from({ length: count }, (_, index) => `10.0.0.${String(count - index)}`);
  t.equal(
    (await senderOf({ 'x-forwarded-for': ['192.0.2.1', ...hops(forwardedHopsMax - 1)].join(',') })).address,
    '192.0.2.1',
  );
  t.equal(
    (await senderOf({ 'x-forwarded-for': ['192.0.2.1', ...hops(forwardedHopsMax)].join(',') })).address,
    `10.0.0.${String(forwardedHopsMax)}`,
  );
  const padded = (length: number) => `192.0.2.1${' '.repeat(length - '192.0.2.1'.length)}`;
  for (const before of ['', '6.6.6.6,']) {
    t.equal(
      (await senderOf({ 'x-forwarded-for': `${before}${padded(forwardedHopLengthMax)},10.0.0.1` })).address,
      '192.0.2.1',
    );
    t.equal(
      (await senderOf({ 'x-forwarded-for': `${before}${padded(forwardedHopLengthMax + 1)},10.0.0.1` })).address,
      '10.0.0.1',
    );
  }
  for (const unit of ['10.0.0.1,', ',', '"', '\\"', '10.0.0.1", ', ' ', 'x']) {
    const long = unit.repeat(120_000 / unit.length);
    t.equal((await senderOf({ 'x-forwarded-for': `${long},192.0.2.1` })).address, '192.0.2.1');
    t.equal((await senderOf({ forwarded: `${long},for=192.0.2.1` })).address, '192.0.2.1');
    t.match((await senderOf({ 'x-forwarded-for': long })).address, /^(?:127\.0\.0\.1|10\.0\.0\.1)$/u);
  }
});

test('an IPv4-mapped peer is trusted and shown as its IPv4 address', async (t) => {
  const senderOf = await given(t, ['127.0.0.2'], '::');
  t.equal((await senderOf({ 'x-forwarded-for': '192.0.2.1' }, '127.0.0.1')).address, '127.0.0.1');
  t.equal((await senderOf({ 'x-forwarded-for': '192.0.2.1' }, '127.0.0.2')).address, '192.0.2.1');
  t.equal((await senderOf({ 'x-forwarded-for': '192.0.2.1' }, '::1', '::1')).address, '::1');
  const bySix = await given(t, ['::1'], '::');
  t.equal((await bySix({ 'x-forwarded-for': '192.0.2.1' }, '::1', '::1')).address, '192.0.2.1');
});
