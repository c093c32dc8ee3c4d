/** The port of replays: the log is folded again, and the result is compared with the read models or shown. */

/**
 * The first difference between two read models. `detail` never contains secrets: it names the entry, and hashes of
 * other contents.
 */
export type Difference = {
  /**
   * `rows`, `gone`, `heads`, `secrets` or `meta`; in memory: `index <name> of <type>`, `permissions: <table>`; of the
   * audit indexes: `audit`, `tree`, `versions`, `times` or `events`.
   */
  readonly table: string;
  readonly key: string;
  readonly detail: string;
};

/** By table: the number of entries that a comparison has read. */
export type Compared = Readonly<Record<string, number>>;

/** A point in the log: a position, or the last position at a time (epoch milliseconds). */
export type Moment =
  { readonly kind: 'position'; readonly position: bigint } | { readonly kind: 'time'; readonly timeMs: number };

/** The objects to show: all, those of a type, or one. */
export type Selected = { readonly type: string | undefined; readonly name: string | undefined };

export type ReplayRequest = {
  /** The start of the changes to show; they end at `until`. Undefined: no changes are shown. */
  readonly from?: Moment | undefined;
  /** The end of the replay; undefined: replay everything and compare it with the read models. */
  readonly until: Moment | undefined;
  /** The objects with a state or changes to show; undefined: none. */
  readonly print: Selected | undefined;
  /** Whether objects of this type may be shown. */
  readonly mayRead: (type: string) => boolean;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
};

export type RefusalReason = 'bad-request' | 'expired' | 'insufficient-storage' | 'unavailable' | 'not-found';

export type ReplayRefusal = {
  readonly ok: false;
  readonly reason: RefusalReason | 'too-many-requests';
  readonly detail: string;
};

/**
 * JSON lines, each with its `kind`: `Progress`, `Object`, `Change`, `Compared` when all but the audit indexes is
 * compared, and one `Result` or `Failure` at the end. The
 * iteration must be started; when it ends or is abandoned, the replay ends and its files are removed.
 */
export type ReplayAnswer = { readonly ok: true; readonly lines: AsyncIterable<Uint8Array> };

export type Replayer = { start(request: ReplayRequest): Promise<ReplayAnswer | ReplayRefusal> };
