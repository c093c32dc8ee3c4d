/** Whether this node is the leader: the one node that does work which only one should do. */
export type Leadership = {
  isLeader(): boolean;
  /** Calls `listener` on each change. If `isLeader()` was false in between, both changes are reported. */
  subscribe(listener: (leads: boolean) => void): () => void;
};
