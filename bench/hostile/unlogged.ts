/** The server reports under attack what these measures count. */
export const unlogged = { settings: { LOG_LEVEL: 'error' } };
