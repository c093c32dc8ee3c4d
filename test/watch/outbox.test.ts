import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import type { Clock } from '../../src/base/clock.ts';
import {
  watchFrameOverheadBytes,
  watchJoinedWriteBytesMax,
  watchQueuedFrameBytes,
  watchStreamEndMs,
} from '../../src/limits/watches.ts';
import { Frames } from '../../src/watch/frames.ts';
import { Outboxes, type Connection, type Finish, type Outbox } from '../../src/watch/outbox.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

/** A connection with a peer that the test lets read. */
class Peer implements Connection {
  readonly written: string[] = [];
  isCut = false;
  #onWritten: (() => void) | undefined;

  write(bytes: Uint8Array, onWritten: () => void): void {
    if (this.#onWritten !== undefined) throw new Error('one write is on its way at a time');
    this.written.push(Buffer.from(bytes).toString('latin1'));
    this.#onWritten = onWritten;
  }

  cut(): void {
    this.isCut = true;
  }

  /** True when there was anything to read. */
  read(): boolean {
    const onWritten = this.#onWritten;
    this.#onWritten = undefined;
    onWritten?.();
    return onWritten !== undefined;
  }
}

const bounds = { bytesMax: 20_000, accountBytesMax: 10_000, watcherBytesMax: 1_000_000 };
const cost = watchFrameOverheadBytes + watchQueuedFrameBytes;

type Opened = { readonly peer: Peer; readonly outbox: Outbox; readonly isOver: () => boolean };

function opened(outboxes: Outboxes, account = 'ada'): Opened {
  const peer = new Peer();
  let overflows = 0;
  const outbox = outboxes.open(peer, {
    account,
    onOverflow: () => {
      overflows += 1;
      outbox.finish(ended());
    },
  });
  return { peer, outbox, isOver: () => overflows > 0 };
}

function ended(change: Partial<Finish> = {}): Finish {
  return { rest: 'dropped', last: undefined, close: () => undefined, ...change };
}

function frames(bytes: number, fill = 'x'): Frames {
  return new Frames(Buffer.alloc(bytes, fill));
}

test('writes wait for the one in flight; waiting small ones are joined, large ones stay separate', async (t) => {
  const { peer, outbox } = opened(new Outboxes(new FakeClock()));
  const large = 'L'.repeat(watchJoinedWriteBytesMax);
  for (const text of ['a', 'b', 'c', large, 'd']) outbox.push(new Frames(Buffer.from(text)));
  t.strictSame(peer.written, ['a']);
  t.equal(outbox.unreadBytes, 4 + large.length);
  while (peer.read()) await nextTurn();
  t.strictSame(peer.written, ['a', 'bc', large, 'd']);
  t.equal(outbox.drained(), undefined);
});

test('queued bytes count once in sum and once for each account, and are released', async (t) => {
  const outboxes = new Outboxes(new FakeClock());
  const [one, two, other] = [opened(outboxes), opened(outboxes), opened(outboxes, 'bob')];
  const shared = frames(1_000);
  for (const { outbox } of [one, two, other]) outbox.push(shared);
  const places = 3 * watchQueuedFrameBytes;
  t.equal(outboxes.budget.bytes, shared.heldBytes + places);
  t.equal(outboxes.budget.bytesOf('ada'), shared.heldBytes + 2 * watchQueuedFrameBytes);
  t.equal(outboxes.budget.bytesOf('bob'), shared.heldBytes + watchQueuedFrameBytes);
  one.peer.read();
  other.outbox.closed();
  t.equal(outboxes.budget.bytes, 1_000 + cost);
  two.outbox.push(frames(500));
  two.outbox.cut();
  t.equal(outboxes.budget.bytes, 0);
  await nextTurn();
  t.strictSame(
    [one, two, other].map(({ peer }) => peer.isCut),
    [false, true, false],
  );
});

test('past a limit the queue that is furthest behind is disconnected, at the limit none', async (t) => {
  const outboxes = new Outboxes(new FakeClock(), bounds);
  const far = opened(outboxes);
  const near = opened(outboxes);
  const bob = opened(outboxes, 'bob');
  for (let count = 0; count < 2; count += 1) far.outbox.push(frames(2_000));
  near.outbox.push(frames(10_000 - 4_000 - 3 * cost));
  bob.outbox.push(frames(9_000));
  t.equal(outboxes.budget.bytesOf('ada'), bounds.accountBytesMax);
  t.notOk(far.isOver() || near.isOver(), 'at the bound');
  near.outbox.push(frames(1));
  t.ok(near.isOver(), 'the one with the most unread bytes');
  t.notOk(far.isOver() || bob.isOver());
  t.ok(outboxes.budget.bytesOf('ada') <= bounds.accountBytesMax);
});

test('the common limit ends the queue furthest behind, of any account', async (t) => {
  const outboxes = new Outboxes(new FakeClock(), bounds);
  const [ada, bob, eve] = [opened(outboxes), opened(outboxes, 'bob'), opened(outboxes, 'eve')];
  ada.outbox.push(frames(7_000));
  bob.outbox.push(frames(8_000));
  eve.outbox.push(frames(4_000));
  t.notOk(ada.isOver() || bob.isOver() || eve.isOver());
  eve.outbox.push(frames(2_000));
  t.strictSame(
    [ada, bob, eve].map(({ isOver }) => isOver()),
    [false, true, false],
  );
  t.ok(outboxes.budget.bytes <= bounds.bytesMax);
  await nextTurn();
  t.ok(bob.peer.isCut, 'its write would not have made room in time');
});

test('ten thousand queues that end at once take many turns, and each ends after its sent data', async (t) => {
  let now = 0;
  const clock = new FakeClock();
  // Each check of the clock takes a while, as the work between two checks does.
  const busy: Clock = {
    now: () => clock.now(),
    after: (ms, task) => clock.after(ms, task),
    monotonic: () => {
      now += 0.1;
      return now;
    },
  };
  const outboxes = new Outboxes(busy);
  let closed = 0;
  const all = Array.from({ length: 10_000 }, () => opened(outboxes));
  for (const { outbox } of all)
    outbox.finish(
      ended({
        rest: 'sent',
        last: frames(1, 'e'),
        close: () => {
          closed += 1;
        },
      }),
    );
  t.ok(closed < 200, `${String(closed)} in the same turn`);
  let turns = 0;
  for (; closed < all.length && turns < 100_000; turns += 1) {
    for (const { peer } of all) peer.read();
    const before = closed;
    await nextTurn();
    if (closed - before > 200) t.fail(`${String(closed - before)} in one turn`);
  }
  t.ok(turns > 50, `${String(turns)} turns`);
  t.ok(all.every(({ peer }) => peer.written.join('') === 'e'));
});

test('an ending queue that is not read is disconnected after its time; one that is read is not', async (t) => {
  const clock = new FakeClock();
  const outboxes = new Outboxes(clock);
  const [stuck, read] = [opened(outboxes), opened(outboxes)];
  let closed = 0;
  for (const { outbox } of [stuck, read]) {
    outbox.push(frames(3, 'a'));
    outbox.push(frames(3, 'b'));
    outbox.finish(
      ended({
        last: frames(1, 'e'),
        close: () => {
          closed += 1;
        },
      }),
    );
  }
  while (read.peer.read()) await nextTurn();
  t.strictSame(read.peer.written, ['aaa', 'e'], 'unsent data is dropped');
  t.equal(closed, 1);
  read.outbox.closed();
  clock.advance(watchStreamEndMs);
  await nextTurn();
  await nextTurn();
  t.strictSame([stuck.peer.isCut, read.peer.isCut], [true, false]);
  t.equal(outboxes.budget.bytes, 0);
  t.equal(clock.timers, 0);
});
