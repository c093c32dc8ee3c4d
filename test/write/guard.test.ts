import { test } from 'tap';

import { eventSchema, type ClaimEvent, type EventMetadata } from '../../src/command/event.ts';
import { claimPendingWaitMs } from '../../src/limits/writes.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import { logStart, streamName, streamRevision, type ExpectedRevision } from '../../src/log/log.ts';
import { HeldGuard } from '../../src/write/guard.ts';
import { StreamQueues } from '../../src/write/stream-queues.ts';
import { Writer } from '../../src/write/admission/writer.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { widget } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { settled } from '../support/writing.ts';

const guard = streamName('guard:supports');
const [one, two] = [streamName('object:widgets.example.com/one'), streamName('object:widgets.example.com/two')];
const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

async function given() {
  const log = new MemoryLog();
  const clock = new FakeClock();
  let ids = 0;
  const uuid = (): string => {
    ids += 1;
    return idOf(`guard ${String(ids)}`);
  };
  const write = async (stream: typeof one, expected: ExpectedRevision) =>
    log.append(
      stream,
      [encodeEvent(uuid(), { type: 'ObjectUpdated', values: [], object: widget() }, metadata)],
      expected,
    );
  for (const stream of [one, two]) await write(stream, 'absent');
  const waited: bigint[] = [];
  // Each write is another node's, so none queues behind another.
  const held = (): HeldGuard =>
    new HeldGuard(
      {
        log,
        clock,
        uuid,
        turns: new StreamQueues(clock),
        writer: new Writer('trusted'),
        foldWaitMs: 1_000,
        reader: {
          position: () => logStart,
          reached: async (position) => {
            waited.push(position);
            return Promise.resolve('reached');
          },
        },
      },
      () => metadata,
    );
  const claims = async () =>
    (await log.readStream(guard, { from: streamRevision(0), limit: 100 })).map(
      (event) => decodeEvent(event).event as ClaimEvent,
    );
  const settle = async <T>(promise: Promise<T>): Promise<T> => settled(promise, clock);
  return { log, clock, write, held, claims, settle, waited };
}

const at = (me: typeof one, base = 0) => ({ me, base: streamRevision(base) });

test('it is held for one append at one revision, and up to its own claim everything is folded', async (t) => {
  const { log, held, waited } = await given();
  const write = held();
  t.notOk(write.covers(guard, at(one)));
  t.ok(await write.take(guard, at(one)));
  t.strictSame(waited, [(await log.readLast(guard))!.position]);
  t.ok(write.covers(guard, at(one)));
  t.notOk(write.covers(guard, at(one, 1)), 'another base');
  t.notOk(write.covers(guard, at(two)), 'another stream');
  t.notOk(write.covers(streamName('guard:others'), at(one)), 'another guard');
  t.ok(await write.take(guard, at(one, 1)));
  t.notOk(write.covers(guard, at(one)));
});

test('once its append succeeds the next claimant takes it at once', async (t) => {
  const { clock, write, held, claims, settle } = await given();
  const first = held();
  await first.take(guard, at(one));
  first.spend();
  await write(one, streamRevision(0));
  await first.end();
  t.ok(await settle(held().take(guard, at(two))));
  t.equal(clock.monotonic() < claimPendingWaitMs, true);
  t.strictSame(
    (await claims()).map(({ type, holder }) => `${type} ${holder}`),
    [`ValueClaimed ${one}`, `ValueClaimed ${two}`],
  );
});

test('an append that may still succeed is waited for, then fenced', async (t) => {
  const { log, clock, write, held, settle } = await given();
  const first = held();
  await first.take(guard, at(one));
  first.spend();
  t.ok(await settle(held().take(guard, at(two))));
  t.ok(clock.monotonic() >= claimPendingWaitMs);
  t.equal((await log.readLast(one))?.type, 'NameFenced');
  t.match(await write(one, streamRevision(0)), { ok: false, reason: 'conflict' });
});

test('a failed claim is released, unless another one of the same stream may depend on it', async (t) => {
  const { clock, held, claims, settle, write } = await given();
  const alone = held();
  await alone.take(guard, at(one));
  await alone.end();
  t.equal((await claims()).at(-1)?.type, 'ValueReleased');
  const [first, second] = [held(), held()];
  await first.take(guard, at(one));
  first.spend();
  await second.take(guard, at(one));
  await second.end();
  t.equal((await claims()).at(-1)?.type, 'ValueClaimed', 'the first may still land');
  await write(one, streamRevision(0));
  const third = held();
  await third.take(guard, at(one, 1));
  await third.end();
  t.equal((await claims()).at(-1)?.type, 'ValueReleased', 'nothing of before can');
  t.ok(await settle(held().take(guard, at(two))));
  t.ok(clock.monotonic() < claimPendingWaitMs);
});
