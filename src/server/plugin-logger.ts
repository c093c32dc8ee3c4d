import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import { isObject } from '../base/guards.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import { loggedFields } from '../plugin/errors/logged-fields.ts';
import type { PluginLogs } from '../plugin/logs/plugin-logs.ts';

/** Adapts the process's log to the interface that most modules use. */
export function loggerOf(log: Logger): PluginLogger {
  return {
    debug: (message, fields) => {
      log.debug(fields ?? {}, message);
    },
    info: (message, fields) => {
      log.info(fields ?? {}, message);
    },
    warn: (message, fields) => {
      log.warn(fields ?? {}, message);
    },
    error: (message, fields) => {
      log.error(fields ?? {}, message);
    },
  };
}

export type Recording = {
  readonly logs: PluginLogs;
  readonly clock: Clock;
  /** Replaces the positions in compiled plugin files by positions in source files. */
  readonly inSources: (stack: string) => string;
  /** The plugin of all lines. If undefined, a line belongs to the plugin in its field `plugin`. */
  readonly plugin: string | undefined;
};

/**
 * Like `loggerOf`, and also stores the lines of plugins for `plugin logs`. Lines below the log's level are not stored.
 */
export function recordedLoggerOf(log: Logger, { logs, clock, plugin, inSources }: Recording): PluginLogger {
  const inner = loggerOf(log);
  const recorded =
    (level: keyof PluginLogger): PluginLogger['info'] =>
    (message, given) => {
      // A plugin may pass any value as `fields`.
      const fields = isObject(given) ? loggedFields(given, inSources) : given;
      inner[level](message, fields);
      const owner = plugin ?? fields?.['plugin'];
      if (typeof owner === 'string' && log.isLevelEnabled(level))
        logs.record(owner, { time: clock.now(), level, message, fields });
    };
  return {
    debug: recorded('debug'),
    info: recorded('info'),
    warn: recorded('warn'),
    error: recorded('error'),
  };
}
