import t, { test } from 'tap';

import { YamlThread } from '../../../src/http/body/yaml-thread.ts';
import { yamlReadMs } from '../../../src/limits/requests.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

// The thread does not keep the process alive.
const alive = setInterval(() => undefined, 1_000);
t.teardown(() => {
  clearInterval(alive);
});

const open = (): AbortSignal => new AbortController().signal;
const slow = Buffer.from(`a: [${'[1, {b: c}], '.repeat(18_000)}]`);
const short = Buffer.from('a: 1');

test('a body that takes too long is given up, and the next one is read by another thread', async (t) => {
  const clock = new FakeClock();
  const thread = new YamlThread(clock);
  const late = thread.read(slow, 'user:a', open());
  const next = thread.read(short, 'user:a', open());
  clock.advance(yamlReadMs);
  t.equal(await late, 'late');
  t.strictSame(await next, { ok: true, json: '{"a":1}' });
});

test('accounts take turns, and a body that nobody waits for is not read', async (t) => {
  const thread = new YamlThread(new FakeClock());
  const order: string[] = [];
  const abort = new AbortController();
  const note = (name: string) => (): void => {
    order.push(name);
  };
  const reads = [
    thread.read(short, 'user:a', open()).then(note('a1')),
    thread.read(short, 'user:a', open()).then(note('a2')),
    thread.read(short, 'user:a', open()).then(note('a3')),
    thread.read(short, 'user:b', open()).then(note('b1')),
  ];
  const left = thread.read(short, 'user:c', abort.signal);
  abort.abort();
  t.equal(await left, undefined);
  await Promise.all(reads);
  t.strictSame(order, ['a1', 'a2', 'b1', 'a3']);
});

test('the next body is that of the account that has used the least time', async (t) => {
  const clock = new FakeClock();
  const thread = new YamlThread(clock);
  const order: string[] = [];
  const read = async (name: string): Promise<void> => {
    await thread.read(short, `user:${name.slice(0, 1)}`, open());
    order.push(name);
  };
  const reads = ['a1', 'a2', 'b1', 'b2', 'c1'].map(read);
  // The first one is being read.
  clock.advance(yamlReadMs - 1);
  await Promise.all(reads);
  t.strictSame(order, ['a1', 'b1', 'c1', 'b2', 'a2']);
});

test('the answer of a thread that was ended is not taken for that of the next body', async (t) => {
  const clock = new FakeClock();
  const thread = new YamlThread(clock);
  await thread.read(short, 'user:a', open());
  const first = thread.read(Buffer.from('name: first'), 'user:a', open());
  const second = thread.read(Buffer.from('name: second'), 'user:b', open());
  // The thread answers meanwhile; this thread learns of it only after its timers, as when the event loop is held.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  clock.advance(yamlReadMs);
  t.equal(await first, 'late');
  t.strictSame(await second, { ok: true, json: '{"name":"second"}' });
  t.strictSame(await thread.read(short, 'user:a', open()), { ok: true, json: '{"a":1}' });
});
