import type { Clock } from '../../base/clock.ts';
import { hookMs, slowHookLogMs } from '../../limits/rules.ts';

export type SlowCallsDependencies = {
  readonly clock: Clock;
  /** Writes a line to the log of a plugin. */
  readonly warn: (plugin: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** A function of a plugin. All members except `plugin` are fields of the log line. */
type PluginFunction = Readonly<Record<'plugin' | 'type', string>>;

type Slow<Of> = {
  readonly of: Of;
  slow: number;
  /** Monotonic milliseconds of the last log line. */
  loggedAt: number | undefined;
};

/**
 * Measures calls of functions of plugins. Such calls block the event loop and cannot be interrupted, so slow calls are
 * counted and logged. Each function gets at most one log line in `slowHookLogMs`.
 */
export class SlowCalls<Of extends PluginFunction> {
  readonly #dependencies: SlowCallsDependencies;
  /** The subject of the log message, such as `a hook of a type`. */
  readonly #subject: string;
  readonly #slow = new Map<string, Slow<Of>>();

  constructor(dependencies: SlowCallsDependencies, subject: string) {
    this.#dependencies = dependencies;
    this.#subject = subject;
  }

  /** Runs and measures `call`. `of` returns a description of the called function, and runs only after a slow call. */
  run<Result>(call: () => Result, of: () => Of): Result {
    const { clock } = this.#dependencies;
    const begun = clock.monotonic();
    try {
      return call();
    } finally {
      const ms = clock.monotonic() - begun;
      if (ms > hookMs) this.#record(of(), ms);
    }
  }

  /** Returns the number of slow calls of each function; functions without slow calls are omitted. */
  counts(): readonly (Of & { readonly slow: number })[] {
    return [...this.#slow.values()].map(({ of, slow }) => ({ ...of, slow }));
  }

  #record(of: Of, ms: number): void {
    const { clock, warn } = this.#dependencies;
    const key = Object.values(of).join(' ');
    const slow = this.#slow.get(key) ?? { of, slow: 0, loggedAt: undefined };
    this.#slow.set(key, slow);
    slow.slow += 1;
    const now = clock.monotonic();
    if (slow.loggedAt !== undefined && now - slow.loggedAt < slowHookLogMs) return;
    slow.loggedAt = now;
    const { plugin, ...fields } = of;
    const message = `${this.#subject} took too long: all other requests had to wait`;
    warn(plugin, message, { ...fields, ms: Math.round(ms), limitMs: hookMs });
  }
}
