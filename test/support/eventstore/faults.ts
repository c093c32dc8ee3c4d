/** A call to the server, for a fault to choose by. */
export type AppendAsked = {
  readonly stream: string;
  readonly ids: readonly string[];
  /** Over the batch stream that all appends of a client share, or a call of its own. */
  readonly batched: boolean;
  /** Counts the appends since the server was made. */
  readonly number: number;
};

export type ReadAsked = {
  /** `$all` for the whole log. */ readonly stream: string;
  readonly subscription: boolean;
  readonly backwards: boolean;
};

/** A gRPC status as the server would send it. */
export type Refusal = {
  readonly code: number;
  readonly details: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

export type AppendFault =
  /** All connections end before anything is written. */
  | { readonly kind: 'drop-before' }
  /** It is written and flushed, then all connections end without an answer. */
  | { readonly kind: 'drop-after' }
  /** No answer ever comes; `written` says whether it was written. */
  | { readonly kind: 'no-answer'; readonly written: boolean }
  /** Written at once and answered later. */
  | { readonly kind: 'late-answer'; readonly ms: number }
  /** Written later, and then answered. */
  | { readonly kind: 'late-write'; readonly ms: number }
  /** Two answers for one append. */
  | { readonly kind: 'twice' }
  /**
   * The call fails; over the batch stream that is everything in flight with it. `written`: it was written all the same.
   */
  | { readonly kind: 'refuse'; readonly refusal: Refusal; readonly written?: boolean }
  /** The batch stream answers this one append with an error that the client does not know. */
  | { readonly kind: 'unready' };

export type ReadFault =
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** Nothing is ever sent. */
  | { readonly kind: 'silent' }
  /** Every event comes twice. */
  | { readonly kind: 'twice' }
  /** After so many events the call ends with this status; without one it ends as if it were complete. */
  | { readonly kind: 'cut'; readonly afterEvents: number; readonly refusal?: Refusal };

/** The switches. All of them may be set and unset while the server runs. */
export type Faults = {
  append: ((asked: AppendAsked) => AppendFault | undefined) | undefined;
  read: ((asked: ReadAsked) => ReadFault | undefined) | undefined;
  /** Called with each event for a reader of the whole log: returns its cost. */
  sent: ((stream: string) => void) | undefined;
  /** A subscription that is live and this many events behind its reader is dropped. */
  liveLagMax: number;
  /** Conflicts are answered at once, though what the writer lost to may not be readable yet. */
  earlyConflicts: boolean;
  /** Subscriptions send nothing while this is set. */
  stalled: boolean;
};

export function noFaults(): Faults {
  return {
    append: undefined,
    read: undefined,
    sent: undefined,
    liveLagMax: 4_096,
    earlyConflicts: false,
    stalled: false,
  };
}

/** How a server refuses that has just been started, in the order in which it happens. */
export type Phase =
  /** Nothing listens. */
  | 'closed'
  /** It listens, and everything it is asked fails with code 14. */
  | 'unavailable'
  /** Reads fail with code 14, batched appends are answered with an error of no known kind. */
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
