import { isObject } from '../../../src/base/guards.ts';
import { stackOf } from '../../../src/base/error-message.ts';
import type { Migrated } from '../../../src/command/upgrade/migrate.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { SlowCalls, type SlowCallsDependencies } from '../../../src/command/hooks/slow-calls.ts';
import type { ObjectFailure } from './migration-task.ts';

type Step = {
  readonly type: ResourceType;
  readonly id: string;
};
export type StepWatchDependencies = SlowCallsDependencies & {
  /** Returns a stack with the place of a function in its source, or ''. */
  readonly functionStack: (declared: unknown) => string;
};

type FailedStep = Step & {
  readonly name: string;
  /** The function, as the plugin declares it. */
  readonly declared: unknown;
};
type Failed = {
  readonly problem: string;
  readonly thrown?: unknown;
};
/** The number of calls of a migration's step that took too long. */
export type SlowSteps = {
  readonly plugin: string;
  readonly migration: string;
  readonly slow: number;
};

/** Measures the steps of migrations, and logs the first failure of each migration. */
export class StepWatch {
  readonly #dependencies: StepWatchDependencies;
  readonly #slow: SlowCalls<Omit<SlowSteps, 'slow'> & { readonly type: string }>;
  /** The plugin of each migration with a logged failure, by plugin and migration. */
  readonly #failing = new Map<string, string>();

  readonly #places = new WeakMap<object, string>();

  constructor(dependencies: StepWatchDependencies) {
    this.#dependencies = dependencies;
    this.#slow = new SlowCalls(dependencies, 'a step of a migration');
  }

  run({ type: { plugin, key: type }, id: migration }: Step, call: () => Migrated): Migrated {
    return this.#slow.run(call, () => ({ plugin, migration, type }));
  }

  failed({ type, id, name, declared }: FailedStep, { problem, thrown }: Failed): ObjectFailure {
    const trace = stackOf(thrown) ?? this.#placeOf(declared);
    const migration = `${type.plugin} ${id}`;
    if (!this.#failing.has(migration))
      this.#dependencies.warn(type.plugin, 'a migration fails for an object; later failures are only counted', {
        migration: id,
        type: type.key,
        name,
        problem,
        ...(trace === undefined ? {} : { stack: trace }),
      });
    this.#failing.set(migration, type.plugin);
    return { problem, trace };
  }

  /** Returns a stack with the place of a step that failed without an error. The debugger is asked once. */
  #placeOf(declared: unknown): string | undefined {
    if (!isObject(declared) && typeof declared !== 'function') return undefined;
    const known = this.#places.get(declared);
    if (known !== undefined) return known;
    const place = this.#dependencies.functionStack(declared);
    this.#places.set(declared, place);
    return place;
  }

  /** Forgets the failures of a plugin, so that the first failure of its next version is logged. */
  forget(plugin: string): void {
    for (const [migration, owner] of this.#failing) if (owner === plugin) this.#failing.delete(migration);
  }

  slow(): readonly SlowSteps[] {
    return this.#slow.counts().map(({ plugin, migration, slow }) => ({ plugin, migration, slow }));
  }
}
