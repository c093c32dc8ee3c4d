import { delay, type Clock } from '../../base/clock.ts';
import { isObject } from '../../base/guards.ts';
import type { ChangeFeed, ObjectReader } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { parseObject } from '../objects/apply-object.ts';
import { packageSettledMs } from './package-limits.ts';

type Awaiting = {
  readonly host: {
    /** Resolves when this node has reconciled the plugin, or after the timeout. */
    waitUntilReconciled(name: string, timeoutMs: number): Promise<unknown>;
  };
  readonly reader: Pick<ObjectReader, 'get'>;
  readonly changes: ChangeFeed;
  readonly pluginKey: TypeKey;
  readonly clock: Clock;
};

/**
 * Waits until this node has reconciled the plugin, and until the leader has reported a final phase of the plugin.
 * Resolves after a timeout in any case.
 */
export async function awaitReported(name: string, dependencies: Awaiting): Promise<void> {
  const { host, clock } = dependencies;
  const timeUp = new AbortController();
  await Promise.race([
    Promise.all([host.waitUntilReconciled(name, packageSettledMs), reported(name, dependencies, timeUp.signal)]),
    delay(clock, packageSettledMs, timeUp.signal),
  ]);
  timeUp.abort();
}

async function reported(name: string, dependencies: Awaiting, signal: AbortSignal): Promise<void> {
  const { changes, pluginKey } = dependencies;
  if (isReported(name, dependencies)) return;
  await new Promise<void>((resolve) => {
    const unsubscribe = changes.subscribe((batch) => {
      if (
        batch.changes.some((change) => change.type === pluginKey && change.name === name) &&
        isReported(name, dependencies)
      )
        end();
    });
    const end = (): void => {
      unsubscribe();
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Returns whether the Plugin is deleted, or its status has a final phase. A status with an outdated
 * `observedGeneration` describes the plugin before the install or upgrade.
 */
function isReported(name: string, { reader, pluginKey }: Awaiting): boolean {
  const stored = reader.get(pluginKey, name);
  if (stored === undefined) return true;
  const { metadata, status } = parseObject(stored.bytes);
  if (!isObject(metadata) || !isObject(status) || status['observedGeneration'] !== metadata['generation']) return false;
  const { phase } = status;
  return phase === 'started' || phase === 'failed' || phase === 'stopped';
}
