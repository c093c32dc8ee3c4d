/** Dependents and owners processed concurrently: as many writes as the log commits together. */
export const ownerConcurrencyMax = 32;
/** The delay before a failed declaration is retried. */
export const declareRetryMs = 1_000;
/** The delay before the level is checked again after the log was unavailable. */
export const levelRetryMs = 1_000;
/**
 * Objects visited in a cycle of owners that wait for each other. A longer cycle waits until somebody removes a
 * finalizer.
 */
export const ownerCycleObjectsMax = 1_000;
/** The delay before a forbidden step is retried; it is long, since rights change rarely. */
export const forbiddenRetryMs = 60_000;
/**
 * Claims processed concurrently, each with one or two reads of the log, and claims processed in one second: cleanup is
 * not urgent.
 */
export const claimConcurrencyMax = 16;
export const claimSweepPerSecondMax = 1_000;
/** The interval of sweeps through new claims: the claim of a failed write causes no change that enqueues it. */
export const claimSweepMs = 600_000;
/** Tokens, roles and users processed concurrently. */
export const accountConcurrencyMax = 8;
/** How long a role may lack a referenced one before its status reports it: files of roles are applied in any order. */
export const missingRoleGraceMs = 1_000;
/** Missing roles that a role's status lists. */
export const missingRolesShownMax = 8;
/** Bindings that a deleted user is removed from in one step. */
export const bindingsPerStepMax = 32;
/** Events of a user that are read in one batch, in the search for an earlier user of the name. */
export const userEventsPerRead = 32;
/**
 * Objects that are rewritten concurrently while an index becomes unique, and the delay before a retry after a failure.
 */
export const uniquenessConcurrencyMax = 8;
export const uniquenessRetryMs = 1_000;
export const uniquenessRetryMsMax = 60_000;
/**
 * The interval at which all duplicates are checked again, and the number of recorded duplicates. Recorded ones are also
 * checked when they or the value's holder change.
 */
export const uniquenessRecheckMs = 600_000;
export const duplicatesKnownMax = 256;
/** The duration of an index's step after which it is reported: most steps end at once. */
export const uniquenessReportMs = 1_000;
