/** A batch becomes visible in one turn: listeners and waiters find it in the rows and in the indexes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { eventSchema, type ObjectEvent } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { created, deleted, updated, widget, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';

const metadata = {
  actor: 'test',
  verb: 'write',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

function recorded(event: ObjectEvent, revision: number): RecordedEvent {
  const place = {
    stream: streamName(`object:${widgets.key}/w1`),
    revision: streamRevision(revision),
    position: logPosition(BigInt(revision + 1)),
    endsAppend: true,
  };
  return { ...encodeEvent(idOf(`event ${String(revision)}`), event, metadata), ...place };
}

test('listeners and waiters find the reported changes in rows and indexes', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-publishing-'));
  const tables = new LmdbTables(dir);
  t.teardown(async () => {
    await tables.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const models = new ObjectModels({
    tables,
    identity: () => ({ logId: 'the only one', epoch: 0 }),
    types: () => widgets,
    clock: new FakeClock(),
  });
  await models.buildIndexes(widgets);
  const size = widgets.indexes.findIndex(({ name }) => name === 'spec.size');
  const sized = (): readonly string[] =>
    [
      ...models.pages(widgets.key, {
        selection: { labels: [], fields: [{ index: size, operator: '>=', key: 5 }] },
        sort: [],
      }),
    ].flat();
  const found: unknown[] = [];
  const look = (who: string): void => {
    found.push([who, models.position(), models.get(widgets.key, 'w1')?.revision, [...sized()]]);
  };
  models.subscribe(() => {
    look('listener');
  });
  const events = [
    created(widget({ spec: { title: 'One', size: 5 } })),
    updated(widget({ metadata: { version: 1 }, spec: { title: 'One', size: 1 } })),
    updated(widget({ metadata: { version: 2 }, spec: { title: 'One', size: 7 } })),
    deleted(widget({ metadata: { version: 3 } })),
  ];
  for (const [revision, event] of events.entries()) {
    const waited = models.reached(logPosition(BigInt(revision + 1)), { timeoutMs: 1_000 }).then(() => {
      look('waiter');
    });
    models.apply([recorded(event, revision)]);
    await waited;
  }
  t.strictSame(
    found,
    [
      [1n, 0, ['w1']],
      [2n, 1, []],
      [3n, 2, ['w1']],
      [4n, undefined, []],
    ].flatMap((state) => [
      ['listener', ...state],
      ['waiter', ...state],
    ]),
  );
});
