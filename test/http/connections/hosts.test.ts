import { test } from 'tap';

import { startEdge } from '../edge-server.ts';
import { RawConnection, readAnswers } from './wire.ts';

const allowedHosts = ['Ledger.example', 'other.example:8443', '[::1]'];

async function statusOf(port: number, lines: readonly string[]): Promise<number> {
  const connection = new RawConnection(port);
  await connection.send([...lines, '', ''].join('\r\n'));
  await connection.until((text) => readAnswers(text, () => true).answers.length > 0);
  connection.socket.destroy();
  return readAnswers(connection.text, () => true).answers[0]?.status ?? 0;
}

test('a request names an allowed host, or is refused before anything else', async (t) => {
  const edge = await startEdge({ allowedHosts });
  t.teardown(async () => edge.stop());
  const asked = async (host: string, path = '/version', more: readonly string[] = []): Promise<number> =>
    statusOf(edge.port, [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Authorization: admin', ...more]);
  const allowed = ['ledger.example', 'LEDGER.example.', 'ledger.example:1', 'other.example:8443', '[::1]', '[::1]:80'];
  for (const host of allowed) t.equal(await asked(host), 200, host);
  const refused = [
    'evil.example',
    'other.example',
    'other.example:1',
    'ledger.example.evil',
    'ledger.example:x',
    '::1',
    '',
  ];
  for (const host of refused) {
    t.equal(await asked(host), 400, host);
    t.equal(await asked(host, '/healthz?x'), 200, 'a probe');
    const offer = ['Connection: Upgrade', 'Upgrade: websocket'];
    t.equal(await asked(host, '/apis/g/v1/things', offer), 400, 'a WebSocket');
    t.equal(await asked(host, '/version', ['Expect: more']), 400, 'an expectation');
  }
  t.equal(await asked('ledger.example', 'http://evil.example/version'), 400, 'the target counts, too');
  t.equal(await statusOf(edge.port, ['GET /version HTTP/1.0']), 400, 'HTTP/1.0 without a Host');
  t.equal(await statusOf(edge.port, ['CONNECT a:1 HTTP/1.1', 'Host: a:1']), 400, 'CONNECT');
});

test('without the setting every host is served', async (t) => {
  const edge = await startEdge();
  t.teardown(async () => edge.stop());
  t.equal(await statusOf(edge.port, ['GET /version HTTP/1.1', 'Host: evil.example', 'Authorization: admin']), 200);
  t.equal(await statusOf(edge.port, ['GET /version HTTP/1.0', 'Authorization: admin']), 200);
});
