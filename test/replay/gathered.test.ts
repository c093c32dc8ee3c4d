import { test } from 'tap';

import { gathered } from '../../projections/replay/gathered.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';

function event(number: number): RecordedEvent {
  return {
    id: String(number),
    type: 'Test',
    stream: streamName(`object:widgets.example.com/w${String(number)}`),
    revision: streamRevision(0),
    position: logPosition(BigInt(number)),
    data: Buffer.alloc(90),
    metadata: Buffer.alloc(10),
    endsAppend: true,
  };
}

async function* batches(sizes: readonly number[]): AsyncGenerator<readonly RecordedEvent[]> {
  let next = 1;
  for (const size of sizes) {
    yield Array.from({ length: size }, (_event, index) => event(next + index));
    next += size;
  }
  return Promise.resolve();
}

async function sizesOf(sizes: readonly number[], limits: Parameters<typeof gathered>[1]): Promise<readonly number[]> {
  const found: number[] = [];
  let next = 1n;
  for await (const batch of gathered(batches(sizes), limits)) {
    for (const { position } of batch) if (position !== next++) throw new Error('an event is missing or moved');
    found.push(batch.length);
  }
  return found;
}

test('batches are joined up to a number of events or bytes, and none is split', async (t) => {
  t.strictSame(await sizesOf([3, 3, 3, 3], { eventsMin: 5, bytesMin: 10_000 }), [6, 6]);
  t.strictSame(await sizesOf([3, 3, 3], { eventsMin: 5, bytesMin: 10_000 }), [6, 3], 'the rest comes last');
  t.strictSame(await sizesOf([3, 1, 3], { eventsMin: 100, bytesMin: 400 }), [4, 3], 'bytes count, too');
  t.strictSame(await sizesOf([], { eventsMin: 1, bytesMin: 1 }), []);
});
