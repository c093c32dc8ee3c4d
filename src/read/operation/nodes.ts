/** The description that a node gives of itself. */
export type NodeDescription = {
  /** The host name of the machine or container. */
  readonly host: string;
  /** The version of the platform, a semantic version. */
  readonly version: string;
  /** The time of the node's start, RFC 3339. */
  readonly since: string;
  /** The position of the last event that the node had folded, as a decimal number. */
  readonly position: string;
};

/** A node of the platform. A node of an older version does not describe itself. */
export type NodeRecord = Partial<NodeDescription> & {
  /** The random id of the process: a restarted node has a new id. */
  readonly id: string;
  /** The time at which the answering node received the last heartbeat; the present for the node itself. */
  readonly lastSeen: string;
  /** Whether a heartbeat arrived within the last 15 seconds. */
  readonly isLive: boolean;
  /** Whether the node holds the lease of the leader. */
  readonly isLeader: boolean;
  /** The highest level of a log that the node can read. */
  readonly level: number;
};

export type NodeReader = { all(): readonly NodeRecord[] };
