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
/** The delay before a forbidden step is retried: rights change rarely. */
export const forbiddenRetryMs = 60_000;
/** Claims processed concurrently, each with one or two reads of the log, and in one second: cleanup is not urgent. */
export const claimConcurrencyMax = 16;
export const claimSweepPerSecondMax = 1_000;
/** The interval of sweeps through new claims: those of failed writes cause no other change. */
export const claimSweepMs = 600_000;
/** Tokens, roles and users processed concurrently. */
export const accountConcurrencyMax = 8;
/** How long a role may lack a referenced one before its status reports it: files of roles are applied in any order. */
export const missingRoleGraceMs = 1_000;
/** Missing roles that a role's status lists. */
export const missingRolesShownMax = 8;
/** Bindings that a deleted user is removed from in one step. */
export const bindingsPerStepMax = 32;
/** Events of a user read in one batch, when searching for an earlier user of the name. */
export const userEventsPerRead = 32;
/** Objects rewritten at once while an index becomes unique, and when it goes on after something failed. */
export const uniquenessConcurrencyMax = 8;
export const uniquenessRetryMs = 1_000;
export const uniquenessRetryMsMax = 60_000;
/**
 * How often all duplicates are checked again; how many are remembered, and checked when they or the value's holder
 * change.
 */
export const uniquenessRecheckMs = 600_000;
export const duplicatesKnownMax = 256;
/** How long a step of an index lasts before it is reported: most end at once. */
export const uniquenessReportMs = 1_000;
