import type { Clock } from '../base/clock.ts';
import { hookMs, slowHookLogMs } from '../limits/rules.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { HookWatchDependencies } from './hook-watch.ts';

/** The number of calls of a function between two versions, such as `v1alpha1 to v1`, that took too long. */
export type ConversionCount = {
  readonly plugin: string;
  readonly type: string;
  readonly conversion: string;
  readonly slow: number;
};

/** The types with a notification of further ones. */
type RegisteredTypes = {
  all(): readonly { readonly type: ResourceType }[];
  subscribe(listener: (registration: { readonly type: ResourceType }, change: string) => void): unknown;
};

type Watched = Omit<ConversionCount, 'slow'> & {
  slow: number;
  /** Monotonic milliseconds of the last log line. */
  loggedAt: number | undefined;
};

/**
 * Measures the functions that convert objects between versions. Reads, writes and index builds call them, and cannot
 * interrupt them, so slow calls are counted, and logged at most once a minute, like those of hooks.
 */
export class WatchedConversions {
  readonly #clock: Clock;
  readonly #warn: HookWatchDependencies['warn'];
  /** The counts by type and conversion. */
  readonly #watched = new Map<string, Watched>();

  constructor({ clock, warn }: HookWatchDependencies) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Measures the conversions of all registered types, now and later. */
  follow(types: RegisteredTypes): void {
    for (const { type } of types.all()) this.#measure(type);
    types.subscribe(({ type }, change) => {
      if (change === 'registered') this.#measure(type);
    });
  }

  counts(): readonly ConversionCount[] {
    return [...this.#watched.values()].map(({ loggedAt: _loggedAt, ...count }) => count);
  }

  #measure(type: ResourceType): void {
    type.versions?.calls.measure((conversion, call) => {
      const begun = this.#clock.monotonic();
      try {
        return call();
      } finally {
        const ms = this.#clock.monotonic() - begun;
        if (ms > hookMs) this.#recordSlow(type, conversion, ms);
      }
    });
  }

  #recordSlow({ plugin, key: type }: ResourceType, conversion: string, ms: number): void {
    const key = `${type} ${conversion}`;
    const watched = this.#watched.get(key) ?? { plugin, type, conversion, slow: 0, loggedAt: undefined };
    this.#watched.set(key, watched);
    watched.slow += 1;
    const now = this.#clock.monotonic();
    if (watched.loggedAt !== undefined && now - watched.loggedAt < slowHookLogMs) return;
    watched.loggedAt = now;
    this.#warn(plugin, 'a conversion between versions takes long: other requests wait meanwhile', {
      type,
      conversion,
      ms: Math.round(ms),
      limitMs: hookMs,
    });
  }
}
