/** The level of a log, as a real server meets it. */
import { join } from 'node:path';
import { test } from 'tap';

import { levelRead } from '../../src/command/level.ts';
import { eventSchema } from '../../src/command/event.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { startTestServer } from '../support/server/start-server.ts';

const stream = streamName('platform:level');
const metadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

test("a server raises its log's level once, then declares its types, and stops at an unknown level", async (t) => {
  const first = await startTestServer();
  const second = await first.restart();
  await second.close();
  const log = await openLmdbLog({
    dir: join(first.dataDir, 'log'),
    onFatal: (error) => {
      throw error;
    },
  });
  const raised = await log.readStream(stream, { from: streamRevision(0), limit: 10 });
  t.same(
    raised.map((recorded) => decodeEvent(recorded).event),
    [{ type: 'LevelRaised', level: levelRead }],
  );
  const declared = await log.readStream(streamName('type:users'), { from: streamRevision(0), limit: 10 });
  t.equal(declared.length, 1);
  t.ok(declared[0]!.position > raised[0]!.position);
  const next = encodeEvent(idOf('next level'), { type: 'LevelRaised', level: levelRead + 1 }, metadata);
  t.match(await log.append(stream, [next], streamRevision(0)), { ok: true });
  await log.close();
  for (const attempt of ['folding it', 'started once more']) {
    await t.rejects(
      startTestServer({ dataDir: first.dataDir }),
      {
        name: 'StartError',
        exitCode: 2,
        message: new RegExp(
          'the level of the log is 5, but this version reads only up to 4; start the version of this program that ' +
            'wrote the event, or a later version',
          'u',
        ),
      },
      attempt,
    );
  }
  await first.remove();
});
