import { createServer } from 'node:http';
import { test } from 'tap';

import { listen } from '../../src/server/listen.ts';
import { acceptReportMs } from '../../src/limits/disk.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { configOf } from '../support/server/start-server.ts';

test('errors of a listening server are reported, and none ends the process', async (t) => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = {
    warn: (message: string) => {
      lines.push(message);
    },
  };
  const server = createServer();
  t.teardown(() => server.close());
  t.match(await listen(server, configOf({ PORT: '0' }), { clock, log }), /^http:\/\/127\.0\.0\.1:\d+$/u);
  for (let index = 0; index < 3; index += 1) server.emit('error', new Error('EMFILE'));
  t.equal(lines.length, 1);
  clock.advance(acceptReportMs);
  server.emit('error', new Error('EMFILE'));
  t.equal(lines.length, 2);
});

test("a port in use is the operator's mistake", async (t) => {
  const edge = { clock: new FakeClock(), log: { warn: () => undefined } };
  const [first, second] = [createServer(), createServer()];
  t.teardown(() => first.close());
  const { port } = new URL(await listen(first, configOf({ PORT: '0' }), edge));
  const refused = { exitCode: 2, message: /the address is in use by another program/u };
  await t.rejects(listen(second, configOf({ PORT: port }), edge), refused);
});
