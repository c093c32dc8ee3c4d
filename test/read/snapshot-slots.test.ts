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
  const places = new SnapshotSlots(new FakeClock());
  const held = Array.from({ length: snapshotsPerUserMax }, (_, index) => places.tryTake(of('ada', String(index))));
  t.ok(held.every((place) => place !== undefined));
  t.equal(places.tryTake(of('ada', 'another')), undefined);
  t.ok(places.tryTake(of('bob')));
  held[0]?.release();
  held[0]?.release();
  t.ok(places.tryTake(of('ada')));
  t.equal(places.tryTake(of('ada')), undefined, 'a place is given back once');
});

test('an address holds so many and no more, visitors and users alike', async (t) => {
  const places = new SnapshotSlots(new FakeClock());
  for (let count = 0; count < snapshotsPerAddressMax; count += 1)
    t.ok(places.tryTake(of(count % 2 === 0 ? undefined : `u${String(count)}`, 'one')));
  t.equal(places.tryTake(of(undefined, 'one')), undefined);
  t.equal(places.tryTake(of('bob', 'one')), undefined);
  t.ok(places.tryTake(of(undefined, 'two')));
});

test('in all there are so many and no more', async (t) => {
  const places = new SnapshotSlots(new FakeClock());
  for (let count = 0; count < snapshotSlotsMax; count += 1) t.ok(places.tryTake(of(`u${String(count)}`)));
  t.equal(places.tryTake(of('one more')), undefined);
});

test('slots are granted in order; a caller that has its share delays none behind it', async (t) => {
  const clock = new FakeClock();
  const places = new SnapshotSlots(clock);
  const ada = Array.from({ length: snapshotsPerUserMax }, () => places.tryTake(of('ada')));
  const others = Array.from({ length: snapshotSlotsMax - snapshotsPerUserMax }, (_, count) =>
    places.tryTake(of(`u${String(count)}`)),
  );
  const got: string[] = [];
  const waiting = ['ada', 'bob', 'eve'].map(async (user) =>
    places.take(of(user)).then((place) => {
      if (place !== undefined) got.push(user);
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
  const places = new SnapshotSlots(clock);
  const lost: number[] = [];
  const held = Array.from({ length: snapshotsPerUserMax }, () => places.tryTake(of('ada')));
  for (const [index, place] of held.entries())
    place?.waits(() => {
      lost.push(index);
      place.release();
    });
  clock.advance(2 * snapshotStallMs);
  t.strictSame(lost, [], 'nobody waits');
  held[0]?.took();
  const place = await Promise.all([
    places.take(of('ada')),
    Promise.resolve().then(() => {
      clock.advance(1_000);
    }),
  ]);
  t.ok(place[0]);
  t.strictSame(lost, [1], 'not the active one, and one for each waiting caller');
});

test('the wait has a bound in time and in number, and ends with its client', async (t) => {
  const clock = new FakeClock();
  const places = new SnapshotSlots(clock);
  for (let count = 0; count < snapshotsPerUserMax; count += 1) places.tryTake(of('ada'));
  const abort = new AbortController();
  const left = places.take(of('ada'), abort.signal);
  abort.abort();
  t.equal(await left, undefined);
  const waiting = Array.from({ length: snapshotWaitersPerUserMax }, async () => places.take(of('ada')));
  t.equal(await places.take(of('ada')), undefined, 'one too many');
  clock.advance(snapshotWaitMs);
  t.ok((await Promise.all(waiting)).every((place) => place === undefined));
  clock.advance(1_000);
  t.equal(clock.timers, 0);
});
