/** The maximum number of dependents and owners that are processed concurrently. */
export const ownerConcurrencyMax = 32;
/** The delay before a failed declaration is retried. */
export const declareRetryMs = 1_000;
/** The delay before another attempt to raise the level, for example after the log was unavailable. */
export const levelRetryMs = 1_000;
/**
 * The maximum number of objects visited in a cycle of owners that wait for each other. The objects of a longer cycle
 * wait until somebody removes a finalizer.
 */
export const ownerCycleObjectsMax = 1_000;
/** The delay before a forbidden step is retried. The delay is long, since rights change rarely. */
export const forbiddenRetryMs = 60_000;
/** The maximum number of claims that are processed concurrently. The number is low, since the cleanup is not urgent. */
export const claimConcurrencyMax = 16;
/** The maximum number of claims that a sweep reads per second. */
export const claimSweepPerSecondMax = 1_000;
/** The interval of sweeps through new claims, since no change enqueues the claim of a failed write. */
export const claimSweepMs = 600_000;
/** The maximum number of tokens, roles and users processed concurrently. */
export const accountConcurrencyMax = 8;
/** The time after which a missing referenced role is reported. Files of roles may be applied in any order. */
export const missingRoleGraceMs = 1_000;
/** The maximum number of missing roles in the status of a role. */
export const missingRolesShownMax = 8;
/** The maximum number of bindings from which one step removes a deleted user. */
export const bindingsPerStepMax = 32;
/** The number of events read at once during the search for an earlier user of a name. */
export const userEventsPerRead = 32;
/** The maximum number of objects that are rewritten concurrently while an index becomes unique. */
export const uniquenessConcurrencyMax = 8;
/** The base of the delay before a retry, which doubles with each failure up to `uniquenessRetryMsMax`. */
export const uniquenessRetryMs = 1_000;
export const uniquenessRetryMsMax = 60_000;
/** The interval at which all duplicates are checked again. */
export const uniquenessRecheckMs = 600_000;
/** The maximum number of recorded duplicates. */
export const duplicatesKnownMax = 256;
/** The duration after which an unfinished step of making an index unique is reported. */
export const uniquenessReportMs = 1_000;
/** The maximum number of other nodes in the list of nodes. */
export const nodesKnownMax = 256;
/** The maximum length of each text in the description of a node. */
export const nodeTextLengthMax = 253;
/** The time after the last heartbeat of a node for which the node remains in the list of nodes. */
export const lostNodeMs = 3_600_000;
