/** Limits of reconcilers. Each name contains its unit. */

/** The most objects that garbage collection removes concurrently. */
export const collectorConcurrencyMax = 128;
/**
 * The time for which a node is the leader after it has sent a renewal of its lease, and the interval of renewals. Two
 * renewals may be lost before another node becomes the leader.
 */
export const leaseMs = 15_000;
export const leaseRenewMs = 5_000;
/**
 * The interval at which the other nodes check the lease. After a clean stop of the leader, another node becomes the
 * leader within about this time.
 */
export const leaseLookMs = 1_000;
/**
 * The longest time that a stopping leader waits until its lease is released. If the lease is not released, the other
 * nodes wait until it expires. A stopping node also waits at most this time until its `NodeLeft` is appended.
 */
export const leaseReleaseMs = 2_000;
/**
 * The most ended sessions that are removed concurrently, and the shortest and the longest time until a session's expiry
 * is checked again.
 */
export const sessionEndsConcurrencyMax = 8;
export const sessionSweepMsMin = 1_000;
export const sessionSweepMsMax = 3_600_000;
