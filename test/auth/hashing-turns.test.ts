import { test } from 'tap';

import { HashingTurns } from '../../src/auth/hashing-turns.ts';
import { passwordHashesMax, passwordHashesWaitingMax, passwordHashesWaitingPerNetworkMax } from '../../src/limits/access.ts';

/** Turns whose work ends when the test says so, each noted as it begins. */
function given() {
  const turns = new HashingTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, network = name, isKnown = false): Promise<string | undefined> => turns.run({ network, isKnown }, async () => {
    begun.push(name);
    await new Promise<void>((resolve) => { ends.push(resolve); });
    return name;
  });
  /** Ends the oldest, and lets the next begin. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => { setImmediate(resolve); });
  };
  const drain = async (): Promise<void> => { while (ends.length > 0) await end(); };
  return { turns, begun, ask, end, drain };
}

test('two hash at once, and networks are served in turn', async (t) => {
  const { begun, ask, drain } = given();
  const all = [...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => ask(name, 'a')), ask('b1', 'b'), ask('c1', 'c'), ask('b2', 'b')];
  t.strictSame(begun, ['a1', 'a2']);
  t.equal(begun.length, passwordHashesMax);
  await drain();
  t.strictSame(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  t.strictSame(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2']);
});

test('every second turn is of those who are known, however many strangers wait', async (t) => {
  const { begun, ask, drain } = given();
  const all = Array.from({ length: 200 }, (_, place) => ask(`s${String(place)}`));
  all.push(ask('known', 'k', true), ask('known too', 'l', true));
  await drain();
  await Promise.all(all);
  t.strictSame(begun.slice(2, 6), ['known', 's2', 'known too', 's3']);
});

test('what waits is bounded by network and in all, and the network with the most gives way', async (t) => {
  const { turns, ask, drain } = given();
  const max = passwordHashesWaitingPerNetworkMax;
  const all: Promise<string | undefined>[] = [ask('x'), ask('y')];
  for (let place = 0; place < max; place += 1) all.push(ask(`0.${String(place)}`, '0'));
  t.equal(await ask('one too many', '0'), undefined);
  for (let network = 1; turns.waiting < passwordHashesWaitingMax; network += 1) {
    for (let place = 0; place < max && turns.waiting < passwordHashesWaitingMax; place += 1) all.push(ask(`${String(network)}.${String(place)}`, String(network)));
  }
  const newcomer = ask('newcomer');
  t.equal(turns.waiting, passwordHashesWaitingMax);
  await drain();
  t.equal(await newcomer, 'newcomer');
  const answers = await Promise.all(all);
  t.equal(answers.filter((answer) => answer === undefined).length, 1);
  t.equal(turns.waiting, 0);
});

test('where nobody has more than one, the one that comes last is turned away', async (t) => {
  const { turns, ask, drain } = given();
  const all = Array.from({ length: passwordHashesWaitingMax + passwordHashesMax }, (_, place) => ask(String(place)));
  t.equal(await ask('late'), undefined);
  t.equal(turns.waiting, passwordHashesWaitingMax);
  await drain();
  t.notOk((await Promise.all(all)).includes(undefined));
});

test('work that fails gives its turn on', async (t) => {
  const turns = new HashingTurns();
  const turn = { network: 'a', isKnown: false };
  const failing = Array.from({ length: 5 }, () => turns.run(turn, () => Promise.reject(new Error('no'))));
  for (const one of failing) await t.rejects(one, { message: 'no' });
  t.equal(await turns.run(turn, () => Promise.resolve(1)), 1);
});
