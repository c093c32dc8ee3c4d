/** Each node records its own log-ins and refusals, whether or not it leads, and nodes fold past the others'. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';

import type { AccessEvent } from '../../src/command/event.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import type { RecordedEvent } from '../../src/log/log.ts';
import { eventsOf } from '../support/memory/event-log.ts';
import { ranked } from './support/leading.ts';
import { commentServer, startLogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(120_000);
commentServer(t);

const users = '/api/v1alpha1/users';
const accessOf = (recorded: RecordedEvent): AccessEvent => decodeEvent(recorded).event as AccessEvent;

test('the refusals of two nodes are in two streams, and both nodes go on behind them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-access-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const nodes: NodeProcess[] = [];
  for (const name of ['first', 'second']) {
    const node = await NodeProcess.start({ eventLog: log, folder, name });
    t.teardown(async () => node.kill());
    nodes.push(node);
  }
  const [leading, other] = await ranked(nodes as [NodeProcess, NodeProcess]);
  for (const [node, count] of [
    [leading, 1],
    [other, 7],
  ] as const)
    for (let time = 0; time < count; time += 1)
      t.equal((await node.ask(users, { headers: { authorization: '' } })).status, 401);
  const refusals = async (): Promise<ReadonlyMap<string, number>> => {
    const counts = new Map<string, number>();
    for (const recorded of await eventsOf(log)) {
      if (!recorded.stream.startsWith('access:')) continue;
      const count = accessOf(recorded).counts.unauthorized ?? 0;
      counts.set(recorded.stream, (counts.get(recorded.stream) ?? 0) + count);
    }
    return counts;
  };
  let found = await refusals();
  for (; [...found.values()].reduce((all, count) => all + count, 0) < 8; found = await refusals()) await passes(50);
  t.strictSame([...found.values()].sort(), [1, 7]);
  const made = await other.ask(users, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'jane' }, spec: {} }),
  });
  t.equal(made.status, 201, made.text);
  await leading.until(`${users}/jane`, ({ status }) => status === 200);
  for (const node of [other, leading]) await node.stop();
});
