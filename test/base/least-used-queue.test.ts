import { test } from 'tap';

import { LeastUsedQueue } from '../../src/base/least-used-queue.ts';

type Work = { readonly time: number };

/** Takes everything. */
function served(queue: LeastUsedQueue<string, Work>): readonly string[] {
  const order: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    order.push(`${next.account}${String(next.item.time)}`);
    queue.charge(next.account, next.item.time);
  }
  return order;
}

test('the account that has used the least is next, and its items keep their order', async (t) => {
  const queue = new LeastUsedQueue<string, Work>();
  for (const time of [10, 10, 10]) queue.add('a', { time });
  for (const time of [3, 4, 5]) queue.add('b', { time });
  queue.add('c', { time: 1 });
  t.strictSame(served(queue), ['a10', 'b3', 'c1', 'b4', 'b5', 'a10', 'a10']);
});

test('accounts that use the same take turns', async (t) => {
  const queue = new LeastUsedQueue<string, Work>();
  for (const account of ['a', 'a', 'b', 'c', 'b']) queue.add(account, { time: 0 });
  t.strictSame(served(queue), ['a0', 'b0', 'c0', 'a0', 'b0']);
});

test('a new account is served next, and gets no more than its share from then on', async (t) => {
  const queue = new LeastUsedQueue<string, Work>();
  for (let item = 0; item < 8; item += 1) queue.add('a', { time: 10 });
  for (let item = 0; item < 4; item += 1) {
    queue.take();
    queue.charge('a', 10);
  }
  for (let item = 0; item < 4; item += 1) queue.add('b', { time: 10 });
  t.strictSame(served(queue), ['b10', 'a10', 'b10', 'a10', 'b10', 'a10', 'b10', 'a10']);
});

test('an item that is removed is not served', async (t) => {
  const queue = new LeastUsedQueue<string, Work>();
  const [first, second] = [{ time: 1 }, { time: 2 }];
  queue.add('a', first);
  queue.add('a', second);
  t.equal(queue.remove('a', first), true);
  t.equal(queue.remove('a', first), false);
  t.equal(queue.remove('b', first), false);
  t.strictSame(served(queue), ['a2']);
  t.equal(queue.take(), undefined);
});
