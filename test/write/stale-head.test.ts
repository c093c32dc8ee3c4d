/** What an object holds is judged by the event a write is based on: an older one that the log answers says nothing. */
import { test } from 'tap';

import { claimStream } from '../../src/write/unique/unique-claims.ts';
import { eventSchema, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import { claimValues } from '../../src/write/unique/unique-values.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { created, updated, valuesOf, widget, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const me = streamName(`object:${widgets.key}/w1`);
const holding = widget({ spec: { title: 'One', serial: 's1' } });
const [value] = valuesOf(holding);

test('a released value is claimed again, though the log returns the event that still held it', async (t) => {
  const log = new MemoryLog();
  t.teardown(() => log.close());
  let ids = 0;
  const append = async (event: ObjectEvent, base: number): Promise<void> => {
    t.match(
      await log.append(
        me,
        [encodeEvent(idOf(`event ${String((ids += 1))}`), event, metadata)],
        base === -1 ? 'absent' : streamRevision(base),
      ),
      { ok: true },
    );
  };
  await append(created(holding), -1);
  await append(updated(widget({ metadata: { version: 1 } })), 0);
  const before = (await log.readStream(me, { from: streamRevision(0), limit: 1 }))[0];
  const stale = {
    append: log.append.bind(log),
    readLast: async (stream: typeof me) => (stream === me ? before : log.readLast(stream)),
  };
  const event = updated(widget({ metadata: { version: 2 }, spec: { title: 'One', serial: 's1' } }));
  const refused = await claimValues(
    {
      log: stale,
      clock: new FakeClock(),
      uuid: () => idOf(`claim ${String((ids += 1))}`),
      charge: () => undefined,
      owe: () => undefined,
    },
    { type: widgets, me, base: streamRevision(1), event, metadata, dryRun: false },
  );
  t.equal(refused.outcome, 'claimed');
  const claim = await log.readLast(claimStream(widgets.key, value!));
  t.match(claim && decodeEvent(claim).event, { type: 'ValueClaimed', holder: me, through: 1 });
});
