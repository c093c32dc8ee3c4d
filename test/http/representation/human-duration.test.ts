import fc from 'fast-check';
import { test } from 'tap';

import { ageOf, humanDuration } from '../../../src/http/representation/human-duration.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The cases of `TestHumanDuration` in k8s.io/apimachinery, and the boundaries between its forms. */
const cases: readonly (readonly [durationMs: number, text: string])[] = [
  [-2 * second, '<invalid>'],
  [-2 * second + 1, '0s'],
  [0, '0s'],
  [second, '1s'],
  [second - 1, '0s'],
  [70 * second, '70s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [190 * second, '3m10s'],
  [10 * minute - 1, '9m59s'],
  [10 * minute, '10m'],
  [70 * minute, '70m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 10 * minute, '3h10m'],
  [8 * hour - 1, '7h59m'],
  [8 * hour, '8h'],
  [47 * hour, '47h'],
  [49 * hour, '2d1h'],
  [7 * day + 23 * hour, '7d23h'],
  [8 * day, '8d'],
  [8 * day + 2 * hour, '8d'],
  [367 * day, '367d'],
  [729 * day, '729d'],
  [2 * 365 * day, '2y'],
  [2 * 365 * day + 3 * day, '2y3d'],
  [8 * 365 * day - 1, '7y364d'],
  [8 * 365 * day, '8y'],
  [20 * 365 * day, '20y'],
];

for (const [durationMs, text] of cases)
  test(`${String(durationMs)} ms are shown as ${text}`, async (t) => {
    t.equal(humanDuration(durationMs).text, text);
  });

test('a text is right until its time, and no longer', async () => {
  fc.assert(
    fc.property(fc.double({ min: -10 * second, max: 20 * 365 * day, noNaN: true }), (drawn) => {
      const durationMs = Math.round(drawn);
      const { text, until } = humanDuration(durationMs);
      return until > durationMs && humanDuration(until - 1).text === text;
    }),
  );
});

test('the age of a timestamp changes at the time given with it', async (t) => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  t.strictSame(ageOf('2026-03-01T11:59:17.250Z', now), { text: '42s', until: now + 250 });
  t.strictSame(ageOf('2026-03-01T13:00:00+02:00', now), { text: '60m', until: now + minute });
  t.equal(ageOf('2026-03-01T12:00:10Z', now).text, '<invalid>', 'the future');
  t.strictSame(ageOf('', now), { text: '<unknown>', until: Infinity });
  for (const text of ['yesterday', '2026', '2026-03-01', '2026-13-01T00:00:00Z', '2026-03-01 11:00:00Z'])
    t.strictSame(ageOf(text, now), { text: '<invalid>', until: Infinity }, text);
});
