import type { Logger } from 'pino';

import type { PluginLogger } from '../plugin/api/plugin.ts';

/** Adapts the process's log to the interface that all modules except the composition root use. */
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
