import { test } from 'tap';

import type { HeldValue } from '../../src/resource/type/held-values.ts';
import { claimStream, claimValue } from '../../src/write/unique/unique-claims.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

const type = 'widgets.example.com' as TypeKey;
const value: HeldValue = { index: 'spec.serial', hash: 'a'.repeat(64) };
const metadata: EventMetadata = {
  actor: 'test',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

test('an attempt on an older state does not shorten the reach of the claim', async (t) => {
  const log = new MemoryLog();
  t.teardown(() => log.close());
  const me = streamName('object:widgets.example.com/w1');
  let ids = 0;
  const through: number[] = [];
  // A node behind the others claims for the same object at an older revision, while an append at the newer one is under
  // way.
  for (const base of [5, 3, 7, 6]) {
    const claimed = await claimValue(
      { log, clock: new FakeClock(), uuid: () => idOf(`id ${String((ids += 1))}`), metadata: () => metadata },
      { type, value, me, base: streamRevision(base) },
    );
    t.equal(claimed.outcome, 'claimed');
    const last = await log.readLast(claimStream(type, value));
    const event = last === undefined ? undefined : decodeEvent(last).event;
    if (event?.type === 'ValueClaimed') through.push(event.through);
  }
  t.strictSame(through, [5, 5, 7, 7]);
});
