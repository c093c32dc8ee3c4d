/** Whether this node is the leader, which does the work that only one node may do. */
export type Leadership = {
  isLeader(): boolean;
  /** Calls `listener` on each change. If the node loses the leadership and wins it again, both changes are reported. */
  subscribe(listener: (leads: boolean) => void): () => void;
};
