/** The most objects that garbage collection removes concurrently. */
export const collectorConcurrencyMax = 128;
/** The time for which a node is the leader after it has sent a renewal of its lease. */
export const leaseMs = 15_000;
/**
 * The interval at which the leader renews its lease. Two renewals may be lost before another node becomes the leader.
 */
export const leaseRenewMs = 5_000;
/**
 * The interval at which the other nodes check the lease. After a clean stop of the leader, another node becomes the
 * leader within about this time.
 */
export const leaseLookMs = 1_000;
/**
 * The longest time that a stopping leader waits until its lease is released. A stopping node also waits at most this
 * time until its `NodeLeft` is appended.
 */
export const leaseReleaseMs = 2_000;
/** The most expired sessions that are removed concurrently. */
export const sessionEndsConcurrencyMax = 8;
/** The shortest and the longest time until the expiry of sessions is checked again. */
export const sessionSweepMsMin = 1_000;
export const sessionSweepMsMax = 3_600_000;
