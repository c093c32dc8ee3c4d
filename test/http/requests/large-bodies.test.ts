/**
 * What large bodies that are complete at once hold the event loop for, over the real read models and the real write
 * door.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { bodyTurnBytesMin, bodyTurnMs } from '../../../src/limits/requests.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { widgetType } from '../../support/given.ts';
import { Writing } from '../../support/writing.ts';
import { startEdge } from '../edge-server.ts';

const widget = widgetType();
const count = 20;

test('large bodies that complete in one turn are decoded in several, and all are answered', async (t) => {
  const writing = await Writing.open(t, { type: widget });
  const { models, clock } = writing;
  let decided = 0;
  const registry = new TypeRegistry();
  registry.register(widget);
  registry.serve(widget.key);
  const edge = await startEdge({
    clock,
    registry,
    reader: models,
    feed: models,
    execute: async (...command) => {
      decided += 1;
      return writing.execute(...command);
    },
  });
  t.teardown(() => edge.stop());
  // Each look at the clock takes as long as one turn has for this.
  let now = 0;
  clock.monotonic = () => (now += bodyTurnMs);
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(edge.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  let accepted = 0;
  while (accepted < count) {
    await nextTurn();
    edge.http.server.getConnections((_error, open) => {
      accepted = open;
    });
  }
  const answers = sockets.map(async (socket) =>
    ((await once(socket, 'data')) as [Buffer])[0].toString('latin1').slice(0, 12),
  );
  for (const [index, socket] of sockets.entries()) {
    const object = {
      metadata: { name: `w${String(index)}`, annotations: { text: 'x'.repeat(bodyTurnBytesMin) } },
      spec: { title: 'T' },
    };
    const body = JSON.stringify(object);
    socket.write(
      `POST ${widget.path}?dryRun=All HTTP/1.1\r\nHost: localhost\r\nAuthorization: admin\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
    );
  }
  let most = 0;
  for (let before = decided; decided < count; before = decided) {
    await nextTurn();
    most = Math.max(most, decided - before);
  }
  t.strictSame([...new Set(await Promise.all(answers))], ['HTTP/1.1 201']);
  for (const socket of sockets) socket.destroy();
  t.ok(most <= 2, `${String(most)} in one turn`);
});
