/** The audit indexes of a running server: built beside it, kept across restarts, rebuilt when they are missing. */
import { rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';

/** Starts a server; resolves with the number of events that its audit indexes hold once they follow the log. */
async function started(t: Test, dataDir?: string): Promise<{ readonly server: TestServer; readonly events: number }> {
  let found: (events: number) => void = () => undefined;
  const events = new Promise<number>((resolve) => {
    found = resolve;
  });
  const write = (line: string): void => {
    const { msg, events: count } = JSON.parse(line) as { readonly msg: string; readonly events: number };
    t.notMatch(msg, /audit indexes (?:failed|cannot)/u);
    if (msg === 'the audit indexes have caught up with the event log') found(count);
  };
  const server = await startTestServer({ logLines: { write }, ...(dataDir === undefined ? {} : { dataDir }) });
  return { server, events: await events };
}

test('the audit indexes have a private folder, survive a restart, and are rebuilt without it', async (t) => {
  const first = await started(t);
  const { dataDir } = first.server;
  const dir = join(dataDir, 'audit-models');
  t.equal((await stat(dir)).mode & 0o777, 0o700);
  await first.server.close();

  const second = await started(t, dataDir);
  t.ok(second.events > 10, `${String(second.events)} events of the first start are indexed`);
  await second.server.close();
  rmSync(dir, { recursive: true });

  const third = await started(t, dataDir);
  t.teardown(async () => third.server.remove());
  t.ok(third.events >= second.events, 'as many events as before');
});
