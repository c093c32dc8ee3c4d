/** Two nodes of one log list each other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';

import { logSettings } from '../../support/memory/event-log.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { commentServer, startLogServer } from '../support/log-server.ts';

t.setTimeout(120_000);

type Listed = {
  readonly node: string;
  readonly items: readonly { readonly id: string; readonly isLeader: boolean; readonly host?: string }[];
};

const listOf = async (server: TestServer): Promise<Listed> =>
  (await (await server.call('/apis/api.console.svc.run/v1alpha1/nodes')).json()) as Listed;

test('two nodes list each other and one leader, and no longer the one that has stopped', async (t) => {
  commentServer(t);
  const log = await startLogServer(t);
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-node-list-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (name: string): Promise<TestServer> =>
    startTestServer({ dataDir: join(folder, name), environment: { ...logSettings(log) } });
  const [first, second] = [await start('first'), await start('second')];
  t.teardown(async () => second.close());
  const until = async (server: TestServer, holds: (listed: Listed) => boolean): Promise<Listed> => {
    for (;;) {
      const listed = await listOf(server);
      if (holds(listed)) return listed;
      await passes(100);
    }
  };
  const isComplete = ({ items }: Listed): boolean => items.length === 2 && items.some(({ isLeader }) => isLeader);
  const [here, there] = [await until(first, isComplete), await until(second, isComplete)];
  t.not(here.node, there.node);
  t.strictSame(
    here.items.map(({ id, isLeader, host }) => [id, isLeader, host]),
    there.items.map(({ id, isLeader, host }) => [id, isLeader, host]),
  );
  t.strictSame(here.items.map(({ id }) => id).sort(), [here.node, there.node].sort());
  await first.close();
  const left = await until(second, ({ items }) => items.length === 1);
  t.match(left.items, [{ id: there.node }]);
});
