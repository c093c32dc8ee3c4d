/** The settings of a server that logs only errors. Under attack, it would otherwise log each refusal. */
export const unlogged = { settings: { LOG_LEVEL: 'error' } };
