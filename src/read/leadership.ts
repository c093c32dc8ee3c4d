/** Whether this node is the leader, which does the work that only one node may do. */
export type Leadership = {
  isLeader(): boolean;
  /** Calls `listener` on each change of the leadership. */
  subscribe(listener: (leads: boolean) => void): () => void;
};
