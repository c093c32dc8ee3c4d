/** Limits of the hooks of types. Each name ends in its unit. Each limit is tested at n and n + 1. */

/** The time after which a call of a hook is logged: a decision holds the event loop, and other requests wait. */
export const hookMs = 5;
/** The shortest time between two such lines of one hook. */
export const slowHookLogMs = 60_000;
/** A hook's text about a violation. */
export const hookDetailLengthMax = 1_024;
/** The values of an object that a hook returns; an object of the allowed size has no more. */
export const hookValuesMax = 400_000;
