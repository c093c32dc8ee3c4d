/** A call to the server, from which a fault decides whether it applies. */
export type AppendAsked = {
  readonly stream: string;
  readonly ids: readonly string[];
  /** True on the batch stream that all appends of a client share; false for a unary append. */
  readonly batched: boolean;
  /** The number of this append, counted since the server was created. */
  readonly number: number;
};

export type ReadAsked = {
  /** `$all` for the whole log. */
  readonly stream: string;
  readonly subscription: boolean;
  readonly backwards: boolean;
};

/** A gRPC status that the server sends. */
export type Refusal = {
  readonly code: number;
  readonly details: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

export type AppendFault =
  /** All connections end before anything is written. */
  | { readonly kind: 'drop-before' }
  /** The append is written and flushed; then all connections end without a response. */
  | { readonly kind: 'drop-after' }
  /** The server never responds; `written`: the append is written nevertheless. */
  | { readonly kind: 'no-answer'; readonly written: boolean }
  /** The append is written at once, and the response is late. */
  | { readonly kind: 'late-answer'; readonly ms: number }
  /** The append is written late, before its response. */
  | { readonly kind: 'late-write'; readonly ms: number }
  /** The server sends two responses to one append. */
  | { readonly kind: 'twice' }
  /**
   * The call fails. On the batch stream, all pending appends of the call fail. `written`: the append is written
   * nevertheless.
   */
  | { readonly kind: 'refuse'; readonly refusal: Refusal; readonly written?: boolean }
  /** The batch stream returns an error for this append that the client does not know. */
  | { readonly kind: 'unready' };

export type ReadFault =
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** The server never sends anything. */
  | { readonly kind: 'silent' }
  /** Every event arrives twice. */
  | { readonly kind: 'twice' }
  /** The call ends with this status after `afterEvents` events; without a status it ends as if it were complete. */
  | { readonly kind: 'cut'; readonly afterEvents: number; readonly refusal?: Refusal };

/** The faults of the server. A test may set and unset them while the server runs. */
export type Faults = {
  append: ((asked: AppendAsked) => AppendFault | undefined) | undefined;
  read: ((asked: ReadAsked) => ReadFault | undefined) | undefined;
  /** Called with each event that the server sends to a reader of the whole log. */
  sent: ((stream: string) => void) | undefined;
  /** Whether a subscription to streams with these prefixes leaves out this event, which it should send. */
  leftOut: ((event: { readonly stream: string }, prefixes: readonly string[]) => boolean) | undefined;
  /** The server drops a live subscription if its client is this many events behind. */
  liveLagMax: number;
  /** The server reports a conflict at once, although the conflicting event may not be readable yet. */
  earlyConflicts: boolean;
  /** Subscriptions send nothing while this is true. */
  stalled: boolean;
};

export function noFaults(): Faults {
  return {
    append: undefined,
    read: undefined,
    sent: undefined,
    leftOut: undefined,
    liveLagMax: 4_096,
    earlyConflicts: false,
    stalled: false,
  };
}

/** The phases of a server after its start, in order; in each but the last it refuses calls. */
export type Phase =
  /** The server does not listen. */
  | 'closed'
  /** The server listens, and every call fails with code 14. */
  | 'unavailable'
  /** Reads fail with code 14, and batch appends with an error of an unknown kind. */
  | 'not-ready'
  | 'ready';

export const unavailable: Refusal = { code: 14, details: 'Connection dropped' };
export const notReady: Refusal = { code: 14, details: 'Server Is Not Ready' };

export function notLeader(host: string, port: number): Refusal {
  return {
    code: 5,
    details: 'Leader info available',
    metadata: { exception: 'not-leader', 'leader-endpoint-host': host, 'leader-endpoint-port': port.toString() },
  };
}
