/** How often the event loop shows that it turns, and how often that is looked at: ten stores a second cost nothing. */
export const eventLoopBeatMs = 100;
/** Held for longer than this, everybody who waits for an answer notices: it is told, with the name of who holds it. */
export const eventLoopHeldMs = 500;
/** How much longer a hold must be until it is told again, and the most that is waited: an endless one stays in the newest lines. */
export const eventLoopToldAgainFactor = 4;
export const eventLoopToldAgainMsMax = 60_000;
/** A watcher that is itself later than this was stopped with the whole process: such time is nobody's. */
export const eventLoopWatcherLateMs = 250;
