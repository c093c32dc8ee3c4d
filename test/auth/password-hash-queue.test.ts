import { test } from 'tap';

import { PasswordHashQueue, type HashResult } from '../../src/auth/passwords/password-hash-queue.ts';
import {
  passwordHashRequestsWindowMs,
  passwordHashesMax,
  passwordHashesWaitingMax,
  passwordHashesWaitingPerNetworkMax,
  passwordHashWaitMs,
} from '../../src/limits/access.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

type Asked = { readonly network?: string; readonly isKnown?: boolean; readonly signal?: AbortSignal };

/** Turns with work that the test ends, each recorded as it begins. */
function given() {
  const clock = new FakeClock();
  const turns = new PasswordHashQueue(clock);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, { network = name, isKnown = false, signal }: Asked = {}): Promise<HashResult<string>> =>
    turns.run({ network, isKnown, signal }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => {
        ends.push(resolve);
      });
      return name;
    });
  const settle = async (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(resolve);
    });
  /** Ends the oldest, and lets the next begin. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  const drain = async (): Promise<void> => {
    while (ends.length > 0) await end();
  };
  /** Fills a lane with one of each network. */
  const fill = (isKnown = false): Promise<HashResult<string>>[] => {
    const before = turns.waiting;
    const all: Promise<HashResult<string>>[] = [];
    for (let index = 0; turns.waiting < before + passwordHashesWaitingMax; index += 1) {
      all.push(ask(`fill ${String(isKnown)} ${String(index)}`, { isKnown }));
    }
    return all;
  };
  return { clock, turns, begun, ask, end, drain, fill, settle };
}

const resultsOf = (turned: readonly HashResult<string>[]): readonly (string | undefined)[] =>
  turned.map((one) => (one.done ? one.result : undefined));

test('two hashes run at once, and networks are served in turn', async (t) => {
  const { begun, ask, drain } = given();
  const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'];
  const all = asked.map((name) => ask(name, { network: name.slice(0, 1) }));
  t.strictSame(begun, ['a1', 'a2']);
  t.equal(begun.length, passwordHashesMax);
  await drain();
  t.strictSame(begun, ['a1', 'a2', 'b1', 'c1', 'b2', 'a3', 'a4', 'a5'], 'those that asked least of late first');
  t.strictSame(resultsOf(await Promise.all(all)), asked);
});

test('every second turn goes to known callers, with any number of unknown ones', async (t) => {
  const { begun, ask, drain, fill } = given();
  const all = [...fill(), ask('known', { isKnown: true }), ask('known too', { isKnown: true })];
  const place = begun.length;
  await drain();
  await Promise.all(all);
  t.strictSame(begun.slice(place, place + 4), ['known', 'fill false 2', 'known too', 'fill false 3']);
});

test('known callers cannot block the others', async (t) => {
  const { begun, ask, drain, fill } = given();
  const all = [...fill(true), ask('first log-in')];
  await drain();
  t.notMatch(resultsOf(await Promise.all(all)), [undefined]);
  t.equal(begun.indexOf('first log-in'), passwordHashesMax + 1);
});

test('a first attempt precedes repeated ones, for a minute', async (t) => {
  const { clock, begun, ask, drain } = given();
  const round = async (...names: readonly string[]): Promise<readonly string[]> => {
    const from = begun.length;
    const all = [ask('x', { network: '' }), ask('y', { network: '' }), ...names.map((name) => ask(name))];
    await drain();
    await Promise.all(all);
    return begun.slice(from + 2);
  };
  t.strictSame(await round('a', 'b'), ['a', 'b']);
  t.strictSame(await round('a', 'b', 'new'), ['new', 'a', 'b']);
  clock.advance(passwordHashRequestsWindowMs);
  t.strictSame(await round('a', 'newer'), ['a', 'newer']);
});

test('all networks of an IPv6 site are one in that order', async (t) => {
  const { begun, ask, drain } = given();
  const networks = ['2001:db8:1:1::/64', '2001:db8:1:2::/64', '2001:db8:1:3::/64', '2001:db8:2:1::/64', '10.0.0.1'];
  const all = networks.map((network) => ask(network));
  await drain();
  await Promise.all(all);
  t.strictSame(begun.slice(2), ['2001:db8:2:1::/64', '10.0.0.1', '2001:db8:1:3::/64']);
});

test('the queue of each network is bounded', async (t) => {
  const { turns, ask, drain } = given();
  const all = [ask('x'), ask('y')];
  for (let index = 0; index < passwordHashesWaitingPerNetworkMax; index += 1) {
    all.push(ask(`0.${String(index)}`, { network: '0' }));
  }
  t.match(await ask('one too many', { network: '0' }), { done: false, isDisconnected: false });
  t.equal(turns.waiting, passwordHashesWaitingPerNetworkMax);
  await drain();
  t.notOk(resultsOf(await Promise.all(all)).includes(undefined));
});

test('the whole queue is bounded, and the network with the most entries loses one', async (t) => {
  const { turns, ask, drain } = given();
  const all = [ask('x'), ask('y')];
  for (let index = 0; turns.waiting < passwordHashesWaitingMax; index += 1) {
    all.push(ask(String(index), { network: String(Math.floor(index / 20)) }));
  }
  const newcomer = ask('newcomer');
  t.equal(turns.waiting, passwordHashesWaitingMax);
  await drain();
  t.match(await newcomer, { result: 'newcomer' });
  t.equal(resultsOf(await Promise.all(all)).filter((result) => result === undefined).length, 1);
  t.equal(turns.waiting, 0);
});

test('where every network has one entry, the last one to arrive is refused at once', async (t) => {
  const { turns, ask, drain, fill } = given();
  const all = fill();
  t.match(await ask('late'), { done: false });
  t.equal(turns.waiting, passwordHashesWaitingMax);
  await drain();
  t.notOk(resultsOf(await Promise.all(all)).includes(undefined));
});

test('a first attempt takes the place of a recently served one', async (t) => {
  const { ask, drain, fill } = given();
  const first = fill();
  await drain();
  await Promise.all(first);
  const again = fill();
  const newcomer = ask('newcomer');
  await drain();
  t.match(await newcomer, { result: 'newcomer' });
  t.equal(resultsOf(await Promise.all(again)).filter((result) => result === undefined).length, 1);
});

test('a first attempt precedes refused ones that retry', async (t) => {
  const { begun, ask, drain, fill } = given();
  const all = fill();
  t.match(await ask('again'), { done: false });
  await drain();
  await Promise.all(all);
  const from = begun.length;
  const later = [ask('x', { network: '' }), ask('y', { network: '' }), ask('again'), ask('first')];
  await drain();
  await Promise.all(later);
  t.strictSame(begun.slice(from), ['x', 'y', 'first', 'again']);
});

test('waiting times are bounded, and slow hashes have fewer slots', async (t) => {
  const { clock, turns, ask, drain, settle } = given();
  const all = [ask('x'), ask('y'), ask('waits')];
  clock.advance(passwordHashWaitMs);
  t.match(await all[2], { done: false, isDisconnected: false });
  t.equal(turns.waiting, 0);
  t.equal(clock.timers, 0);
  await drain();
  // Both took ten seconds: of each lane one is served in such a time.
  const slow = Array.from({ length: 10 }, (_, index) => ask(String(index)));
  await settle();
  t.equal(turns.waiting, passwordHashesMax);
  const [refused] = await Promise.all(slow.slice(4));
  t.match(refused, { done: false, retryAfterSeconds: 20 }, 'four of ten seconds, two at once');
  await drain();
});

test('a disconnected client releases its place to the next one', async (t) => {
  const { clock, turns, begun, ask, drain } = given();
  const clients = Array.from({ length: passwordHashesWaitingPerNetworkMax }, () => new AbortController());
  const going = clients.map(({ signal }) => ({ network: 'a', signal }));
  const all = [ask('x'), ask('y'), ...going.map((asked) => ask('gone', asked)), ask('b')];
  t.match(await ask('full', { network: 'a' }), { done: false });
  for (const client of clients) client.abort();
  t.equal(turns.waiting, 1);
  t.equal(clock.timers, 1);
  all.push(ask('a', { network: 'a' }), ask('gone already', { signal: AbortSignal.abort() }));
  await drain();
  t.strictSame(begun, ['x', 'y', 'b', 'a']);
  const disconnected = (await Promise.all(all)).filter((one) => !one.done && one.isDisconnected);
  t.equal(disconnected.length, clients.length + 1);
  t.equal(clock.timers, 0);
});

test('failed work passes its turn on', async (t) => {
  const turns = new PasswordHashQueue(new FakeClock());
  const turn = { network: 'a', isKnown: false };
  const failing = Array.from({ length: 5 }, () => turns.run(turn, () => Promise.reject(new Error('no'))));
  for (const one of failing) await t.rejects(one, { message: 'no' });
  t.match(await turns.run(turn, () => Promise.resolve(1)), { done: true, result: 1 });
});
