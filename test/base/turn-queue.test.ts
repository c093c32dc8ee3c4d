import { test } from 'tap';

import { TurnQueue } from '../../src/base/turn-queue.ts';

function given(...items: readonly string[]): TurnQueue<string, string> {
  const queue = new TurnQueue<string, string>();
  for (const item of items) queue.add(item.slice(0, 1), item);
  return queue;
}

function all(queue: TurnQueue<string, string>): readonly string[] {
  return Array.from({ length: queue.size }, () => queue.take() ?? '');
}

test('accounts take turns, and the items of one come in their order', (t) => {
  const queue = given('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
  t.strictSame(all(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  t.equal(queue.take(), undefined);
  t.strictSame([...queue.accounts()], []);
  t.end();
});

test('an item that leaves gives its place back, and another one stays', (t) => {
  const queue = given('a1', 'a2', 'b1');
  t.ok(queue.remove('a', 'a1'));
  t.notOk(queue.remove('a', 'a1'));
  t.notOk(queue.remove('c', 'c1'));
  t.ok(queue.remove('b', 'b1'));
  t.strictSame([queue.size, queue.sizeOf('a'), queue.sizeOf('b')], [1, 1, 0]);
  t.strictSame(all(queue), ['a2']);
  t.end();
});

test('an account out of turn comes last afterwards, and its latest leaves its turn alone', (t) => {
  const queue = given('a1', 'a2', 'b1', 'c1', 'c2');
  t.equal(queue.takeOf('c'), 'c1');
  t.equal(queue.takeLatest('a'), 'a2');
  t.equal(queue.takeOf('d'), undefined);
  t.equal(queue.takeLatest('d'), undefined);
  t.strictSame(all(queue), ['a1', 'b1', 'c2']);
  t.end();
});
