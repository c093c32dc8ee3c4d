/** Logs errors only: under attack the server logs the refusals that these measures count. */
export const unlogged = { settings: { LOG_LEVEL: 'error' } };
