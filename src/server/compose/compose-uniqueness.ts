import { randomUUID } from 'node:crypto';

import { FailureLines } from '../../../reconcilers/failure-lines.ts';
import { uniquenessReportMs } from '../../../reconcilers/platform/platform-limits.ts';
import { Uniqueness } from '../../../reconcilers/platform/uniqueness/uniqueness.ts';
import type { Clock } from '../../base/clock.ts';
import { claimantOf } from '../../write/unique/unique-claims.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { Core } from './core.ts';
import type { LogPosition } from '../../log/log.ts';
import type { UniqueStep, UniqueSteps } from '../../read/uniqueness.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

export type UniqueIndexes = UniqueSteps & {
  /** Must be called after the read models have caught up. */
  open(): void;
  stop(): Promise<void>;
};

/**
 * Returns a function that fences the given-up appends of earlier declarations, and then returns the position up to
 * which this node is drained.
 */
export function drainOf(core: Core): () => Promise<LogPosition> {
  const { unsettled, eventLog: log } = core;
  const fencing = { log, uuid: randomUUID, metadata: metadataOf('uniqueness', core) };
  return async () => {
    // An unavailable log is reported elsewhere. The appends then remain pending, and `drained` returns an earlier
    // position.
    await unsettled.fenceStale(fencing).catch(() => undefined);
    return unsettled.drained();
  };
}

export function composeUniqueness(core: Core): UniqueIndexes {
  const {
    registry,
    models,
    edge: { clock, log },
  } = core;
  const reporter = new StepReporter(clock, (plugin) => uniqueness.steps().filter(({ type }) => type.plugin === plugin));
  const uniqueness = createUniqueness(core, reporter);
  const subscriptions = [
    registry.subscribe(() => {
      uniqueness.scan();
    }),
  ];
  return {
    of: (plugin) => reporter.of(plugin),
    subscribe: (listener) => reporter.subscribe(listener),
    open: () => {
      subscriptions.push(
        models.declarations.onLate(({ type, ...late }) => {
          log.warn(
            'an object was written under an older declaration of its type after an index became unique, and may have ' +
              'a duplicate value',
            { type, ...late },
          );
        }),
      );
      uniqueness.open();
    },
    stop: async () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      reporter.stop();
      await uniqueness.stop();
    },
  };
}

function createUniqueness(core: Core, reporter: StepReporter): Uniqueness {
  const {
    registry,
    models,
    eventLog,
    edge: { clock, log },
    leadership,
    execute,
    node,
    isAlone,
  } = core;
  const lines = new FailureLines(clock, (message, fields) => {
    log.error(message, fields);
  });
  return new Uniqueness({
    log: eventLog,
    reader: models,
    rows: models.older,
    changes: models,
    declarations: models.declarations,
    leadership,
    execute,
    node,
    isAlone,
    clock,
    claimantOf: async (claimed) => claimantOf(eventLog, claimed),
    uuid: randomUUID,
    metadata: metadataOf('uniqueness', core),
    drain: drainOf(core),
    served: () =>
      registry
        .all()
        .filter(({ serving }) => serving)
        .map(({ type }) => type),
    onStep: (type) => {
      reporter.note(type);
    },
    onEnforced: ({ key, plugin }, indexes) => {
      log.info('unique indexes are now enforced: the values of all stored objects are claimed', {
        type: key,
        plugin,
        indexes,
      });
    },
    onDuplicates: ({ type: { key, plugin }, duplicates, duplicateCount: count }) => {
      if (count > 0)
        log.warn(
          'objects share a value of a unique index with another object: writes to them must change the value or ' +
            'delete them',
          { type: key, plugin, count, first: duplicates[0] },
        );
    },
    onError: (error, key) => {
      lines.failed('could not enforce a unique index; retrying', { key, attempts: 1 }, () => ({
        type: key,
        error: String(error),
      }));
    },
  });
}

/** Reports the steps of a plugin after `uniquenessReportMs`, because most steps end earlier and need no report. */
class StepReporter {
  readonly #clock: Clock;
  readonly #listeners = new Set<(plugin: string) => void>();
  readonly #timers = new Map<string, { cancel(): void }>();
  readonly #steps: (plugin: string) => readonly UniqueStep[];
  readonly #reported = new Map<string, readonly UniqueStep[]>();

  constructor(clock: Clock, steps: (plugin: string) => readonly UniqueStep[]) {
    this.#clock = clock;
    this.#steps = steps;
  }

  of(plugin: string): readonly UniqueStep[] {
    return this.#reported.get(plugin) ?? [];
  }

  note({ plugin }: ResourceType): void {
    if (this.#timers.has(plugin)) return;
    this.#timers.set(
      plugin,
      this.#clock.after(uniquenessReportMs, () => {
        this.#timers.delete(plugin);
        this.#reported.set(plugin, this.#steps(plugin));
        for (const listener of this.#listeners) listener(plugin);
      }),
    );
  }

  subscribe(listener: (plugin: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel();
  }
}
