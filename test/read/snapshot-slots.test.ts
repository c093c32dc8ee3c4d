import { test } from 'tap';

import {
  snapshotSlotsMax,
  snapshotsPerAddressMax,
  snapshotsPerUserMax,
  snapshotStallMs,
  snapshotWaitersPerUserMax,
  snapshotWaitMs,
} from '../../src/limits/lists.ts';
import type { Client } from '../../src/read/client.ts';
import { SnapshotSlots } from '../../src/read/snapshot-slots.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

const of = (user: string | undefined, address = `address of ${user ?? 'nobody'}`): Client => ({ user, address });

test('a user holds so many and no more, from whatever address, and keeps no other user out', async (t) => {
  const slots = new SnapshotSlots(new FakeClock());
  const held = Array.from({ length: snapshotsPerUserMax }, (_, index) => slots.tryTake(of('ada', String(index))));
  t.ok(held.every((slot) => slot !== undefined));
  t.equal(slots.tryTake(of('ada', 'another')), undefined);
  t.ok(slots.tryTake(of('bob')));
  held[0]?.release();
  held[0]?.release();
  t.ok(slots.tryTake(of('ada')));
  t.equal(slots.tryTake(of('ada')), undefined, 'a place is given back once');
});

test('an address holds so many and no more, visitors and users alike', async (t) => {
  const slots = new SnapshotSlots(new FakeClock());
  for (let count = 0; count < snapshotsPerAddressMax; count += 1)
    t.ok(slots.tryTake(of(count % 2 === 0 ? undefined : `u${String(count)}`, 'one')));
  t.equal(slots.tryTake(of(undefined, 'one')), undefined);
  t.equal(slots.tryTake(of('bob', 'one')), undefined);
  t.ok(slots.tryTake(of(undefined, 'two')));
});

test('in all there are so many and no more', async (t) => {
  const slots = new SnapshotSlots(new FakeClock());
  for (let count = 0; count < snapshotSlotsMax; count += 1) t.ok(slots.tryTake(of(`u${String(count)}`)));
  t.equal(slots.tryTake(of('one more')), undefined);
});

test('slots are granted in order; a caller that has its share delays none behind it', async (t) => {
  const clock = new FakeClock();
  const slots = new SnapshotSlots(clock);
  const ada = Array.from({ length: snapshotsPerUserMax }, () => slots.tryTake(of('ada')));
  const others = Array.from({ length: snapshotSlotsMax - snapshotsPerUserMax }, (_, count) =>
    slots.tryTake(of(`u${String(count)}`)),
  );
  const got: string[] = [];
  const waiting = ['ada', 'bob', 'eve'].map(async (user) =>
    slots.take(of(user)).then((slot) => {
      if (slot !== undefined) got.push(user);
    }),
  );
  others[0]?.release();
  await waiting[1];
  t.strictSame(got, ['bob'], 'the first one below its share');
  ada[0]?.release();
  await waiting[0];
  t.strictSame(got, ['bob', 'ada']);
  others[1]?.release();
  await Promise.all(waiting);
  t.equal(got.at(-1), 'eve');
  t.equal(clock.timers, 1, 'one look is left, and it is the last');
  clock.advance(1_000);
  t.equal(clock.timers, 0);
});

test('one that takes nothing loses its place when others wait, and only then', async (t) => {
  const clock = new FakeClock();
  const slots = new SnapshotSlots(clock);
  const lost: number[] = [];
  const held = Array.from({ length: snapshotsPerUserMax }, () => slots.tryTake(of('ada')));
  for (const [index, slot] of held.entries())
    slot?.waits(() => {
      lost.push(index);
      slot.release();
    });
  clock.advance(2 * snapshotStallMs);
  t.strictSame(lost, [], 'nobody waits');
  held[0]?.took();
  const slot = await Promise.all([
    slots.take(of('ada')),
    Promise.resolve().then(() => {
      clock.advance(1_000);
    }),
  ]);
  t.ok(slot[0]);
  t.strictSame(lost, [1], 'not the active one, and one for each waiting caller');
});

test('the wait has a bound in time and in number, and ends with its client', async (t) => {
  const clock = new FakeClock();
  const slots = new SnapshotSlots(clock);
  for (let count = 0; count < snapshotsPerUserMax; count += 1) slots.tryTake(of('ada'));
  const abort = new AbortController();
  const left = slots.take(of('ada'), abort.signal);
  abort.abort();
  t.equal(await left, undefined);
  const waiting = Array.from({ length: snapshotWaitersPerUserMax }, async () => slots.take(of('ada')));
  t.equal(await slots.take(of('ada')), undefined, 'one too many');
  clock.advance(snapshotWaitMs);
  t.ok((await Promise.all(waiting)).every((slot) => slot === undefined));
  clock.advance(1_000);
  t.equal(clock.timers, 0);
});
