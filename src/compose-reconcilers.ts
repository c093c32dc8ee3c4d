import { randomUUID } from 'node:crypto';

import type { ObjectModels } from '../projections/object-models.ts';
import type { ReconcileBound } from '../reconcilers/bound.ts';
import { Collector } from '../reconcilers/collector.ts';
import type { Leadership } from '../reconcilers/lease.ts';
import type { Clock } from './base/clock.ts';
import type { Execute } from './execute.ts';
import type { PluginLogger } from './plugin/plugin.ts';
import type { TypeRegistry } from './plugin/type-registry.ts';

/** What the platform's own reconcilers are put together from: each is the server's own. */
export type ReconcilerParts = {
  readonly registry: TypeRegistry;
  readonly models: ObjectModels;
  readonly edge: { readonly clock: Clock; readonly log: PluginLogger };
  readonly execute: Execute;
  readonly bound: ReconcileBound;
  readonly leadership: Leadership;
};

export type Reconcilers = {
  /** Once the read models have caught up and the platform's types can be listed. */
  open(): void;
  stop(): Promise<void>;
};

export function composeReconcilers({ registry, models, edge: { clock, log }, execute, bound, leadership }: ReconcilerParts): Reconcilers {
  const collector = new Collector({
    changes: models, reader: models, execute, bound, leadership, clock, uuid: randomUUID,
    types: (key) => registry.byKey(key)?.type,
    serving: () => registry.all().filter(({ serving }) => serving).map(({ type }) => type),
    onError: (error, key) => { log.error('the collector failed', { key, error: String(error) }); },
  });
  const unsubscribe = registry.subscribe(({ type }, change) => { if (change === 'serving') collector.enqueueAll(type); });
  return {
    open: () => { collector.open(); },
    stop: async () => {
      unsubscribe();
      await collector.stop();
    },
  };
}
