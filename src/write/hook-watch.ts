import { stackOf } from '../base/error-message.ts';
import { SlowCalls, type SlowCallsDependencies } from '../command/hooks/slow-calls.ts';
import type { HookWatch } from '../command/facts.ts';
import type { HookName, ResourceType } from '../resource/type/resource-type.ts';

/** The numbers of slow calls and failed calls of one hook. */
export type HookCount = {
  readonly plugin: string;
  readonly type: string;
  readonly hook: HookName;
  readonly slow: number;
  readonly failed: number;
};

type HookOf = Pick<HookCount, 'plugin' | 'type' | 'hook'>;

/** Measures the calls of hooks. Logs the first failure of each type's hooks; later failures are only counted. */
export class WatchedHooks implements HookWatch {
  readonly #dependencies: SlowCallsDependencies;
  readonly #slow: SlowCalls<HookOf>;
  readonly #failed = new Map<string, HookOf & { failed: number }>();
  /**
   * The types with a logged failure. A plugin that is loaded again has new types, so its next failure is logged again.
   */
  readonly #failing = new WeakSet<ResourceType>();

  constructor(dependencies: SlowCallsDependencies) {
    this.#dependencies = dependencies;
    this.#slow = new SlowCalls(dependencies, 'a hook of a type');
  }

  run(type: ResourceType, hook: HookName, call: () => unknown): unknown {
    return this.#slow.run(call, () => hookOf(type, hook));
  }

  failed(
    type: ResourceType,
    hook: HookName,
    { problem, thrown }: { readonly problem: string; readonly thrown?: unknown },
  ): void {
    const key = keyOf({ type: type.key, hook });
    const count = this.#failed.get(key) ?? { ...hookOf(type, hook), failed: 0 };
    count.failed += 1;
    this.#failed.set(key, count);
    if (this.#failing.has(type)) return;
    this.#failing.add(type);
    const stack = stackOf(thrown);
    this.#dependencies.warn(
      type.plugin,
      'a hook of a type fails: the write is refused; later failures are counted, but not logged',
      {
        type: type.key,
        hook,
        problem,
        ...(stack === undefined ? {} : { stack }),
      },
    );
  }

  counts(): readonly HookCount[] {
    const counts = new Map<string, HookCount>();
    for (const slow of this.#slow.counts()) counts.set(keyOf(slow), { ...slow, failed: 0 });
    for (const [key, failed] of this.#failed) counts.set(key, { ...failed, slow: counts.get(key)?.slow ?? 0 });
    return [...counts.values()];
  }
}

function hookOf({ plugin, key }: ResourceType, hook: HookName): HookOf {
  return { plugin, type: key, hook };
}

function keyOf({ type, hook }: Pick<HookOf, 'type' | 'hook'>): string {
  return `${type} ${hook}`;
}
