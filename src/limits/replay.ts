/** Limits of replays. Each name ends in its unit. They pace the work: no request can exceed them. */

/** The memory of the thread that replays: it folds without indexes, so that it needs little beside one batch. */
export const replayHeapMegabytesMax = 512;
/** How often a replay reports its progress, and reads the free space of the disk. */
export const replayReportMs = 250;
/**
 * How long the event loop waits for the thread to open its view of the live tables at the position of this turn. The
 * thread waits for nothing else by then, so it takes a fraction of a millisecond.
 */
export const replayMeetMsMax = 20;
/** How often that is tried, and the pause in between: after that the machine is too busy for a comparison. */
export const replayMeetingsMax = 600;
export const replayMeetPauseMs = 100;
/** How long a comparison may hold its views: LMDB cannot reuse pages freed meanwhile. */
export const replayHoldMsMax = 600_000;
/** The share of the event loop that a comparison of indexes takes: so long, then so long not. */
export const replaySliceMs = 2;
export const replayPauseMs = 4;
/** Objects or changes that are sent together. */
export const replayPieceBytesMax = 65_536;
/** How long a thread may take to end on request, before it is ended. */
export const replayStopMsMax = 5_000;
/** How long a refused client should wait for the replay that runs, or for indexes. */
export const replayRetryAfterSeconds = 5;
