import { delay, type Clock } from '../base/clock.ts';
import { pluginsWaitMs } from '../limits/plugins.ts';
import type { PluginHost } from '../plugin/lifecycle/host.ts';
import { slowStepMs } from '../plugin/lifecycle/life-limits.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import type { Readiness } from './readiness.ts';

export type AwaitPluginsOptions = {
  readonly host: Pick<PluginHost, 'start' | 'starting'>;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly log: PluginLogger;
  /** Aborts when the start is cancelled. */
  readonly signal: AbortSignal | undefined;
};

/**
 * Starts the plugins, and waits until each plugin has started or failed, at most for `pluginsWaitMs`. After the wait,
 * the node becomes ready, and the other plugins continue to start in the background. A started plugin is served at
 * once. Rejects when `signal` aborts.
 */
export async function awaitPlugins({ host, readiness, clock, log, signal }: AwaitPluginsOptions): Promise<void> {
  signal?.throwIfAborted();
  readiness.waitFor('plugins', () => {
    const starting = host.starting();
    return starting.length === 0 ? 'plugins are starting' : `plugins are starting: ${starting.join(', ')}`;
  });
  const slowLine = clock.after(slowStepMs, () => {
    log.info('waiting for plugins to start; the platform and the started plugins are served', {
      plugins: host.starting(),
    });
  });
  const over = new AbortController();
  const giveUp = (): void => {
    over.abort();
  };
  signal?.addEventListener('abort', giveUp);
  try {
    const settled = host.start().then(() => 'settled' as const);
    // Nothing awaits `settled` after the time limit, so a later error is logged here.
    settled.catch((error: unknown) => {
      if (over.signal.aborted) log.error('could not start the plugins', { error: String(error) });
    });
    const outcome = await Promise.race([settled, delay(clock, pluginsWaitMs, over.signal)]);
    signal?.throwIfAborted();
    if (outcome !== 'settled')
      log.warn('no longer waiting for plugins to start: they continue to start in the background', {
        plugins: host.starting(),
        waitedMs: pluginsWaitMs,
      });
  } finally {
    signal?.removeEventListener('abort', giveUp);
    slowLine.cancel();
    over.abort();
  }
}
