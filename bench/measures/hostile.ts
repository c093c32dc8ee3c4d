import type { Bench, Measure } from '../bench.ts';
import { catchUps } from '../hostile/catch-ups.ts';
import { guesses } from '../hostile/guesses.ts';
import { endlessUpload, neverSettles, slowIndex } from '../hostile/odd-plugins.ts';
import { silentJoins, silentWatchers } from '../hostile/silent-watchers.ts';
import { slowReaders } from '../hostile/slow-readers.ts';
import type { Result } from '../result.ts';

const attacks: Readonly<Record<string, (bench: Bench) => Promise<readonly Result[]>>> = {
  'many silent watchers': (bench) => silentWatchers(bench, { watchers: 2_000, writes: 1_500 }),
  'silent watchers of many writes': (bench) => silentWatchers(bench, { watchers: 200, writes: 11_000 }),
  'silent joins': silentJoins,
  'catch-ups': catchUps,
  'slow readers': slowReaders,
  guesses: guesses,
  'a plugin that never settles': neverSettles,
  'a slow index': slowIndex,
  'an endless upload': endlessUpload,
};

/** Measures the effect of hostile clients and plugins on other callers. A failed attack does not stop the others. */
export const hostile: Measure = {
  name: 'hostile',
  run: async (bench) => {
    const results: Result[] = [];
    for (const [name, attack] of Object.entries(attacks)) {
      try {
        results.push(...(await attack(bench)));
      } catch (error) {
        results.push(failed(name, error));
      }
    }
    return results;
  },
};

/** A result without a figure, which misses its floor. */
function failed(name: string, error: unknown): Result {
  const note = error instanceof Error ? error.message : String(error);
  return { measure: `${name} failed`, value: Number.NaN, unit: '', floor: 0, bound: 'value at most', note };
}
