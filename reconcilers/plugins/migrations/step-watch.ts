import type { Clock } from '../../../src/base/clock.ts';
import type { Migrated } from '../../../src/command/upgrade/migrate.ts';
import { hookMs, slowHookLogMs } from '../../../src/limits/rules.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ObjectFailure } from './migration-task.ts';

export type StepWatchDependencies = {
  readonly clock: Clock;
  /** Writes a line to the log of a plugin. */
  readonly warn: (plugin: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
};

type Step = {
  readonly type: ResourceType;
  readonly id: string;
};
type Failed = {
  readonly problem: string;
  readonly thrown?: unknown;
};
type Watched = {
  slow: number;
  loggedAt: number | undefined;
  isFailing: boolean;
};

/** The number of calls of a migration's step that took too long. */
export type SlowSteps = {
  readonly plugin: string;
  readonly migration: string;
  readonly slow: number;
};

const stackLengthMax = 8_192;

/**
 * Measures the steps of migrations. Like a hook of a type, a step holds the event loop and cannot be interrupted: a
 * slow one is counted, and logged at most once a minute. The first failure of a migration is logged, later ones are
 * counted.
 */
export class StepWatch {
  readonly #dependencies: StepWatchDependencies;
  /** By plugin and migration. */
  readonly #watched = new Map<string, Watched & { readonly plugin: string; readonly migration: string }>();

  constructor(dependencies: StepWatchDependencies) {
    this.#dependencies = dependencies;
  }

  run(step: Step, call: () => Migrated): Migrated {
    const { clock } = this.#dependencies;
    const begun = clock.monotonic();
    const migrated = call();
    const ms = clock.monotonic() - begun;
    if (ms > hookMs) this.#recordSlow(step, ms);
    return migrated;
  }

  failed({ type, id, name }: Step & { readonly name: string }, { problem, thrown }: Failed): ObjectFailure {
    const trace = stackOf(thrown);
    const watched = this.#of({ type, id });
    if (!watched.isFailing)
      this.#dependencies.warn(type.plugin, 'a migration fails for an object; later failures are only counted', {
        migration: id,
        type: type.key,
        name,
        problem,
        ...(trace === undefined ? {} : { stack: trace }),
      });
    watched.isFailing = true;
    return { problem, trace };
  }

  /** Forgets the failures of a plugin, so that the first failure of its next version is logged. */
  forget(plugin: string): void {
    for (const watched of this.#watched.values()) if (watched.plugin === plugin) watched.isFailing = false;
  }

  slow(): readonly SlowSteps[] {
    return [...this.#watched.values()]
      .filter(({ slow }) => slow > 0)
      .map(({ plugin, migration, slow }) => ({ plugin, migration, slow }));
  }

  #recordSlow({ type, id }: Step, ms: number): void {
    const watched = this.#of({ type, id });
    watched.slow += 1;
    const now = this.#dependencies.clock.monotonic();
    if (watched.loggedAt !== undefined && now - watched.loggedAt < slowHookLogMs) return;
    watched.loggedAt = now;
    this.#dependencies.warn(type.plugin, 'a step of a migration takes long: other requests wait meanwhile', {
      migration: id,
      type: type.key,
      ms: Math.round(ms),
      limitMs: hookMs,
    });
  }

  #of({ type: { plugin }, id }: Step): Watched {
    const key = `${plugin} ${id}`;
    const present = this.#watched.get(key);
    if (present !== undefined) return present;
    const watched = { plugin, migration: id, slow: 0, loggedAt: undefined, isFailing: false };
    this.#watched.set(key, watched);
    return watched;
  }
}

/** An error of a plugin may throw when it is read. */
function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string'
      ? thrown.stack.slice(0, stackLengthMax)
      : undefined;
  } catch {
    return undefined;
  }
}
