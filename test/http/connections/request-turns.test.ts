/** Requests that arrive in one turn of the event loop, over real connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { requestTurnMs, untimedRequestsMax } from '../../../src/limits/requests.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { resetSocket } from '../../support/reset-socket.ts';
import { startEdge } from '../edge-server.ts';

const count = 6 * untimedRequestsMax;

type Arriving = {
  readonly sockets: readonly Socket[];
  readonly requests: { begun: number };
  /** The number of connections that the server has. */
  readonly open: () => Promise<number>;
};

/** An edge on which each look at the clock takes as long as a turn has for requests, with open connections. */
async function given(t: Test): Promise<Arriving> {
  const clock = new FakeClock();
  let now = 0;
  clock.monotonic = () => (now += requestTurnMs);
  const requests = { begun: 0 };
  const edge = await startEdge({
    clock,
    authenticate: () => {
      requests.begun += 1;
      return { ok: false, reason: 'unauthorized', detail: 'no' };
    },
  });
  t.teardown(() => edge.stop());
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(edge.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const open = async (): Promise<number> =>
    new Promise((resolve) => {
      edge.http.server.getConnections((_error, connections) => {
        resolve(connections);
      });
    });
  while ((await open()) < count) await nextTurn();
  return { sockets, requests, open };
}

function ask(socket: Socket): void {
  socket.write('GET /apis HTTP/1.1\r\nHost: localhost\r\nAuthorization: admin\r\n\r\n');
}

test('requests that arrive in one turn are served in several, and all are answered', async (t) => {
  const { sockets, requests } = await given(t);
  const answers = sockets.map(async (socket) =>
    ((await once(socket, 'data')) as [Buffer])[0].toString('latin1', 0, 12),
  );
  for (const socket of sockets) ask(socket);
  let most = 0;
  for (let before = 0; requests.begun < count; before = requests.begun) {
    await nextTurn();
    most = Math.max(most, requests.begun - before);
  }
  t.strictSame([...new Set(await Promise.all(answers))], ['HTTP/1.1 401']);
  t.ok(most <= untimedRequestsMax + 2, `${String(most)} in one turn`);
});

test('a request whose client disconnects before its turn is not served', async (t) => {
  const { sockets, requests, open } = await given(t);
  for (const socket of sockets) ask(socket);
  while (requests.begun === 0) await nextTurn();
  for (const socket of sockets) resetSocket(socket);
  while ((await open()) > 0) await nextTurn();
  await nextTurn();
  t.ok(requests.begun < count / 2, `${String(requests.begun)} served`);
});
