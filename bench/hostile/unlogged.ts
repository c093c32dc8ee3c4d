/** The settings of a server that logs only errors. Otherwise the server would log each refusal during an attack. */
export const unlogged = { settings: { LOG_LEVEL: 'error' } };
