/** The same over EventStoreDB: the replay reads through a client of its own. */
import { test } from 'tap';

import { commentServer, startLogServer } from '../nodes/support/log-server.ts';
import { logSettings } from '../support/memory/event-log.ts';
import { runCommand } from '../support/server/command-run.ts';
import { startTestServer, testPassword } from '../support/server/start-server.ts';
import { create, diffsPath, objectsIn, replay, widget, widgets, widgetsPath } from './replay-stage.ts';

test('a log in EventStoreDB is replayed, compared and shown, beside a server and without one', async (t) => {
  commentServer(t);
  const environment = logSettings(await startLogServer(t));
  const server = await startTestServer({ environment });
  t.teardown(async () => server.remove());
  const first = await create(server, widget('a'));
  const second = await create(server, widget('b'));
  await server.call(`${widgetsPath}/a`, { method: 'DELETE' });
  t.match((await replay(server)).last, { kind: 'Result', equal: true });
  t.match(objectsIn(await replay(server, { until: first, print: true, type: widgets })), [{ metadata: { name: 'a' } }]);
  const { lines } = await replay(server, { from: first, to: second, type: widgets }, diffsPath);
  t.match(
    lines.filter(({ kind }) => kind === 'Change'),
    [{ change: 'created', name: 'b' }],
  );
  t.match(await replay(server, { until: '1' }), { status: 400, last: { message: /before the log’s first event/u } });
  await server.close();
  const stopped = await runCommand(['audit', 'replay', '--stopped'], {
    variables: { DATA_DIR: server.dataDir, ...environment, ADMIN_PASSWORD: testPassword },
  });
  t.match(stopped, { code: 0, out: /no difference/u }, stopped.err);
});
