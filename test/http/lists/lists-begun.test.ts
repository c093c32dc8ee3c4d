/** What lists that begin at once hold the event loop for, over the real read models. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { listTurnMs } from '../../../src/limits/lists.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { create, widgetType } from '../../support/given.ts';
import { Writing } from '../../support/writing.ts';
import { startEdge } from '../edge-server.ts';

const widget = widgetType();
const count = 20;

/** What takes as long as one turn has for lists. */
const costs = ['each look at the clock', 'each list'] as const;

for (const cost of costs)
  test(`of many lists in one turn those that fit its time begin in it, by the cost of ${cost}`, async (t) => {
    await beginAtOnce(t, cost);
  });

async function beginAtOnce(t: Test, cost: (typeof costs)[number]): Promise<void> {
  const writing = await Writing.open(t, { type: widget });
  await writing.write(create({ metadata: { name: 'w1' }, spec: { title: 'T' } }));
  const { models, clock } = writing;
  let now = 0;
  clock.monotonic = () => (cost === 'each list' ? now : (now += listTurnMs));
  let begun = 0;
  const list = models.list.bind(models);
  models.list = (...query) => {
    begun += 1;
    now += listTurnMs;
    return list(...query);
  };
  const registry = new TypeRegistry();
  registry.register(widget);
  registry.serve(widget.key);
  const edge = await startEdge({ clock, registry, reader: models, feed: models });
  t.teardown(() => edge.stop());
  const socket = connect(edge.port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.write(
    Array.from(
      { length: count },
      (_, index) =>
        `GET ${widget.path}?limit=1&list=${String(index)} HTTP/1.1\r\nHost: localhost\r\nAuthorization: admin\r\n\r\n`,
    ).join(''),
  );
  let most = 0;
  for (let before = begun; text.split('HTTP/1.1 200').length <= count; before = begun) {
    await nextTurn();
    most = Math.max(most, begun - before);
  }
  socket.destroy();
  t.equal(begun, count);
  t.ok(most <= 2, `${String(most)} in one turn`);
}
