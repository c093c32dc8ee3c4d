import type { Clock } from '../src/base/clock.ts';
import type { ReconcilerReport } from '../src/read/operation/reconciler-report.ts';
import type { ControllerOptions } from './controller-options.ts';
import type { DelayedKeys } from './delayed-keys.ts';
import type { Failures } from './failures.ts';
import { reconcileFailingNamesMax } from './reconcile-limits.ts';

/** The state of a controller. */
export type ControllerState = {
  readonly options: ControllerOptions;
  readonly queued: number;
  /** The number of running steps, including stuck steps. */
  readonly steps: number;
  readonly stuck: readonly string[];
  readonly delayed: Pick<DelayedKeys, 'size' | 'dueOf'>;
  readonly failures: Failures;
  readonly counts: ReconcilerReport['steps'];
  /** The wall-clock time of the last step that did not fail. */
  readonly lastSuccessMs: number | undefined;
};

/** Returns the report of a controller. Its cost is bounded, independent of the number of keys. */
export function reportOf({
  options,
  queued,
  steps,
  stuck,
  delayed,
  failures,
  ...rest
}: ControllerState): ReconcilerReport {
  const { name, plugin, clock, type, slowed } = options;
  const nextTry = (key: string): { readonly nextTryAt?: string } => {
    const dueMs = delayed.dueOf(key);
    return dueMs === undefined ? {} : { nextTryAt: wallTime(dueMs, clock) };
  };
  const { total = 0, items = [] } = slowed?.() ?? {};
  return {
    plugin: plugin ?? 'platform',
    name: plugin === undefined ? name : name.slice(plugin.length + 1),
    ...(type === undefined ? {} : { type }),
    queued,
    running: steps - stuck.length,
    delayed: delayed.size,
    failing: {
      total: failures.attempts.size,
      items: [...failures.described].map(([key, { attempts, atMs, error }]) => ({
        name: key,
        attempts,
        failedAt: new Date(atMs).toISOString(),
        ...nextTry(key),
        error,
      })),
    },
    stuck: { total: stuck.length, items: stuck.slice(0, reconcileFailingNamesMax).map((key) => ({ name: key })) },
    slowed: { total, items: items.map((item) => ({ ...item, ...nextTry(item.name) })) },
    steps: { ...rest.counts },
    ...(rest.lastSuccessMs === undefined ? {} : { lastSuccessAt: new Date(rest.lastSuccessMs).toISOString() }),
  };
}

/** Converts a time on the monotonic clock to wall-clock time. */
function wallTime(monotonicMs: number, clock: Clock): string {
  return new Date(Math.round(clock.now() + monotonicMs - clock.monotonic())).toISOString();
}
