/** Limits of reconcilers. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states it. */

/** Objects removed concurrently. */
export const collectorConcurrencyMax = 128;
/**
 * The time for which a node is the leader after it sent a renewal, and the interval of renewals: two may be lost before
 * another node takes over.
 */
export const leaseMs = 15_000;
export const leaseRenewMs = 5_000;
/** The interval at which the other nodes check the lease; after a clean stop they take over within this time. */
export const leaseLookMs = 1_000;
/** The time that a stop waits for the confirmation of the release; without it, others wait until the lease expires. */
export const leaseReleaseMs = 2_000;
/** Ended sessions removed concurrently; the shortest and longest interval of checks for expired ones. */
export const sessionEndsConcurrencyMax = 8;
export const sessionSweepMsMin = 1_000;
export const sessionSweepMsMax = 3_600_000;
