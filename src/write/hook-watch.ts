import type { Clock } from '../base/clock.ts';
import type { HookWatch } from '../command/facts.ts';
import { hookMs, slowHookLogMs } from '../limits/rules.ts';
import type { HookName, ResourceType } from '../resource/type/resource-type.ts';

/** The number of calls of one hook that took too long, and the number of calls that failed. */
export type HookCount = {
  readonly plugin: string;
  readonly type: string;
  readonly hook: HookName;
  readonly slow: number;
  readonly failed: number;
};

export type HookWatchDependencies = {
  readonly clock: Clock;
  /** Writes a line to the log of a plugin. */
  readonly warn: (plugin: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
};

type Watched = {
  slow: number;
  failed: number;
  /** Monotonic milliseconds; undefined before the first line. */
  loggedAt: number | undefined;
};

/**
 * Measures the hooks of types. A hook runs within a decision and cannot be interrupted, so slow calls are counted, and
 * logged at most once a minute. The first failure of a type's hooks is logged; later failures are counted.
 */
export class WatchedHooks implements HookWatch {
  readonly #dependencies: HookWatchDependencies;
  /** The counts by type and hook. */
  readonly #watched = new Map<string, Watched & Pick<HookCount, 'plugin' | 'type' | 'hook'>>();
  /** Types with a logged failure. A plugin that is loaded again has other types. */
  readonly #failing = new WeakSet<ResourceType>();

  constructor(dependencies: HookWatchDependencies) {
    this.#dependencies = dependencies;
  }

  run(type: ResourceType, hook: HookName, call: () => unknown): unknown {
    const { clock } = this.#dependencies;
    const begun = clock.monotonic();
    try {
      return call();
    } finally {
      const ms = clock.monotonic() - begun;
      if (ms > hookMs) this.#recordSlow(type, hook, ms);
    }
  }

  failed(
    type: ResourceType,
    hook: HookName,
    { problem, thrown }: { readonly problem: string; readonly thrown?: unknown },
  ): void {
    this.#of(type, hook).failed += 1;
    if (this.#failing.has(type)) return;
    this.#failing.add(type);
    const stack = stackOf(thrown);
    this.#dependencies.warn(
      type.plugin,
      'a hook of a type fails: writes are refused; later failures are only counted',
      {
        type: type.key,
        hook,
        problem,
        ...(stack === undefined ? {} : { stack }),
      },
    );
  }

  counts(): readonly HookCount[] {
    return [...this.#watched.values()].map(({ loggedAt: _loggedAt, ...count }) => count);
  }

  #recordSlow(type: ResourceType, hook: HookName, ms: number): void {
    const watched = this.#of(type, hook);
    watched.slow += 1;
    const now = this.#dependencies.clock.monotonic();
    if (watched.loggedAt !== undefined && now - watched.loggedAt < slowHookLogMs) return;
    watched.loggedAt = now;
    this.#dependencies.warn(type.plugin, 'a hook of a type takes long: other requests wait meanwhile', {
      type: type.key,
      hook,
      ms: Math.round(ms),
      limitMs: hookMs,
    });
  }

  #of(type: ResourceType, hook: HookName): Watched {
    const key = `${type.key} ${hook}`;
    const present = this.#watched.get(key);
    if (present !== undefined) return present;
    const watched = { plugin: type.plugin, type: type.key, hook, slow: 0, failed: 0, loggedAt: undefined };
    this.#watched.set(key, watched);
    return watched;
  }
}

const stackLengthMax = 8_192;

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
