import { randomUUID } from 'node:crypto';

import { TracedSteps } from '../../reconcilers/plugins/traced-steps.ts';
import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import { Controller } from '../../reconcilers/controller.ts';
import { alwaysLeading } from '../../reconcilers/lease.ts';
import { settled } from '../../reconcilers/outcome.ts';
import { PluginReconciler } from '../../reconcilers/plugins/plugin-reconciler.ts';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { ObjectReader } from '../../src/read/objects.ts';
import type { Measure } from '../bench.ts';
import type { Result } from '../result.ts';
import { expect } from '../subject/client.ts';
import { widgetText } from '../subject/widgets.ts';

const count = 10_000;
const perSecondMin = 50_000;

/** Runs an empty step for 10,000 keys. Measures the cost of the runtime itself, and of the same step in a plugin. */
export const reconcile: Measure = {
  name: 'reconcile',
  run: async (bench) => {
    const keys = Array.from({ length: count }, (_, index) => `w-${index.toString()}`);
    const controller = await rounds(bench.rounds, async () => {
      let steps = 0;
      const one = new Controller({
        name: 'bench',
        bound: new ReconcileSlots(clock),
        concurrency: 16,
        clock,
        leadership: alwaysLeading,
        keys: () => keys,
        onError: (error) => {
          throw error;
        },
        reconcile: async () => {
          steps += 1;
          return Promise.resolve(settled);
        },
      });
      const took = await timed(one);
      expect('steps', steps, count);
      await one.stop();
      return took;
    });
    const stored = { bytes: Buffer.from(widgetText({ name: 'w', size: '1', tier: 'gold', batch: '1' })) };
    const reader: Pick<ObjectReader, 'get' | 'pages'> = { get: () => stored as never, pages: () => [keys] };
    const none = (): undefined => undefined;
    const log = { debug: none, info: none, warn: none, error: none };
    const plugin = await rounds(bench.rounds, async () => {
      let steps = 0;
      const type = { group: 'bench.example', version: 'v1', plural: 'widgets' };
      const one = new PluginReconciler(
        'bench',
        {
          name: 'widgets',
          type,
          concurrency: 16,
          watches: [],
          reconcile: async () => {
            steps += 1;
            return Promise.resolve(undefined);
          },
        },
        {
          reader: reader as ObjectReader,
          bound: new ReconcileSlots(clock),
          leadership: alwaysLeading,
          clock,
          loggerOf: () => log,
          clientOf: () => ({}) as never,
          parse: (bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as never,
          placeOf: () => '',
          traced: new TracedSteps(randomUUID),
          onHealth: none,
        },
      );
      const took = await timed(one);
      expect('steps', steps, count);
      await one.stop();
      return took;
    });
    return [
      {
        measure: `reconcile ${count.toLocaleString('en')} keys`,
        unit: '/s',
        ...controller,
        floor: perSecondMin,
        bound: 'value at least',
      },
      { measure: '… of a plugin, objects parsed', unit: '/s', ...plugin },
    ];
  },
};

async function timed(one: { open(): void; idle(): Promise<void> }): Promise<number> {
  const began = performance.now();
  one.open();
  await one.idle();
  return (count / (performance.now() - began)) * 1_000;
}

async function rounds(times: number, run: () => Promise<number>): Promise<Pick<Result, 'value' | 'spread'>> {
  // A warm-up, since compiled code is measured.
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await run();
  const figures: number[] = [];
  for (let round = 0; round < times; round += 1) figures.push(await run());
  figures.sort((a, b) => a - b);
  return { value: figures[Math.floor(figures.length / 2)] ?? 0, spread: [figures[0] ?? 0, figures.at(-1) ?? 0] };
}
