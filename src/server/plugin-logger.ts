import type { Logger } from 'pino';

import type { PluginLogger } from '../plugin/api/plugin.ts';

/** The process's log in the form that all modules except for the root use. */
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
