/**
 * Bounds of reconcilers. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** Objects removed at once. */
export const collectorConcurrencyMax = 128;
/** How long a node leads after it sent a renewal, and how often it sends one: two may be lost before another node takes over. */
export const leaseMs = 15_000;
export const leaseRenewMs = 5_000;
/** How often the others look whether the lease is free: a clean stop is made good within this. */
export const leaseLookMs = 1_000;
/** How long a stop waits until its release is known: without one others wait for the lease to run out. */
export const leaseReleaseMs = 2_000;
/** Ended sessions removed at once; how soon and how late expired ones are looked for. */
export const sessionEndsConcurrencyMax = 8;
export const sessionSweepMsMin = 1_000;
export const sessionSweepMsMax = 3_600_000;
