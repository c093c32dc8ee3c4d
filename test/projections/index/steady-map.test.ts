import { test } from 'tap';

import { SteadyMap } from '../../../projections/index/steady-map.ts';

test('any number of texts and numbers is found again', (t) => {
  for (const [title, keyOf] of [
    ['numbers', (place: number) => place - 10_000],
    ['fractions', (place: number) => place / 3],
    ['great numbers', (place: number) => place * 2 ** 40],
    ['texts', (place: number) => `key ${String(place)}`],
    ['long texts that differ in the middle', (place: number) => `${'a'.repeat(40)}${String(place)}${'b'.repeat(40)}`],
    ['texts that differ at the end', (place: number) => `${'a'.repeat(100)}${String(place)}`],
  ] as const) {
    const map = new SteadyMap<number>();
    const count = 20_000;
    const missing = (): number => {
      let missed = 0;
      for (let index = 0; index < count; index++) if (map.get(keyOf(index)) !== index) missed += 1;
      return missed;
    };
    t.equal(missing(), count, `${title}: empty`);
    for (let index = 0; index < count; index++) map.add(keyOf(index), index);
    t.equal(missing(), 0, title);
    t.equal(map.get(keyOf(count)), undefined);
  }
  const zero = new SteadyMap<number>();
  for (let index = 1; index <= 5_000; index++) zero.add(index, index);
  zero.add(0, 7);
  t.equal(zero.get(-0), 7, 'minus zero is zero');
  t.end();
});
