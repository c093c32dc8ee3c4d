/** Dependents, and owners, looked at at once: as many writes as the log commits together. */
export const ownerConcurrencyMax = 32;
/** When a declaration is tried again that the log did not take. */
export const declareRetryMs = 1_000;
/** When the level is looked at again after the log did not answer. */
export const levelRetryMs = 1_000;
/** Objects met on the way round a cycle of owners that wait for each other. A longer one waits for somebody to take a finalizer away. */
export const ownerCycleObjectsMax = 1_000;
/** When a step that is not permitted is tried again: who may hold what changes seldom. */
export const forbiddenRetryMs = 60_000;
/** Claims looked at at once, each a read or two of the log, and how many a second: they are only tidied. */
export const claimConcurrencyMax = 16;
export const claimSweepPerSecondMax = 1_000;
/** How often claims that were made since are looked through: those of writes that came to nothing show nowhere else. */
export const claimSweepMs = 600_000;
/** Tokens, roles and users looked at at once. */
export const accountConcurrencyMax = 8;
/** How long a role may lack one that it names until its status says so: files of roles are applied in any order. */
export const missingRoleGraceMs = 1_000;
/** Names that a role's status tells of those that are missing. */
export const missingRolesShownMax = 8;
/** Bindings that a deleted user is taken out of in one step. */
export const bindingsPerStepMax = 32;
/** Events of a user read at once, to find whether there was another of the name before. */
export const userEventsPerRead = 32;
/** Objects rewritten at once while an index becomes unique, and when it goes on after something failed. */
export const uniquenessConcurrencyMax = 8;
export const uniquenessRetryMs = 1_000;
export const uniquenessRetryMsMax = 60_000;
/** How often duplicates are all looked at again; how many are remembered, and looked at when they or who holds their value change. */
export const uniquenessRecheckMs = 600_000;
export const duplicatesKnownMax = 256;
/** How long a step of an index stands before it is told: most are over at once. */
export const uniquenessTellMs = 1_000;
