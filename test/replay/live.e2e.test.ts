import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';
import { create, replay, widget, widgetsPath } from './replay-stage.ts';

test('a replay of a server under writes finds no difference, and leaves no file', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  for (let index = 0; index < 50; index += 1)
    await create(server, widget(`w${String(index)}`, {}, { labels: { part: String(index % 3) } }));
  const over = new AbortController();
  const writes = (async () => {
    for (let index = 0; !over.signal.aborted; index += 1) {
      await create(server, widget(`busy${String(index)}`));
      if (index % 3 === 0) await server.call(`${widgetsPath}/busy${String(index)}`, { method: 'DELETE' });
    }
  })();
  for (let round = 0; round < 5; round += 1) {
    const { status, last } = await replay(server);
    t.equal(status, 200);
    t.match(last, { kind: 'Result', equal: true }, JSON.stringify(last));
  }
  over.abort();
  await writes;
  const folder = join(server.dataDir, 'replay');
  t.strictSame(existsSync(folder) ? readdirSync(folder) : [], []);
});
