/** The port of replays: the log is folded again, and the result is compared with the read models or shown. */

/** The first difference between two read models. `detail` contains hashes and no secrets. */
export type Difference = {
  /**
   * The table that differs:
   *
   * - a stored table: `rows`, `gone`, `heads`, `secrets` or `meta`
   * - a table in memory: `index <name> of <type>` or `permissions: <table>`
   * - a table of the audit indexes: `audit`, `tree`, `versions`, `times`, `events`, `columns of <type>` or
   *   `column <index> of <type>`
   */
  readonly table: string;
  readonly key: string;
  readonly detail: string;
};

/** A read model that a comparison leaves out. */
export type NotCompared = {
  readonly table: string;
  readonly reason: string;
};

/** The number of entries that a comparison has read, by table. */
export type Compared = Readonly<Record<string, number>>;

/** A point in the log: a position, or the last position at a time (epoch milliseconds). */
export type Moment =
  { readonly kind: 'position'; readonly position: bigint } | { readonly kind: 'time'; readonly timeMs: number };

/** The objects to show: all objects, the objects of a type, or one object. */
export type Selected = {
  readonly type: string | undefined;
  readonly name: string | undefined;
};

export type ReplayRequest = {
  /** The start of the changes to show, which end at `until`; undefined if no changes are shown. */
  readonly from?: Moment | undefined;
  /** The end of the replay; undefined for a comparison of the whole log with the read models. */
  readonly until: Moment | undefined;
  /** The shown objects, or the objects of the shown changes; undefined for none. */
  readonly print: Selected | undefined;
  /** Returns whether objects of this type may be shown. */
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
 * A response of JSON lines with the `kind` `Progress`, `Object`, `Change`, `Compared`, `Result` or `Failure`.
 * `Compared` follows the comparison of all read models except the audit indexes and the columns. The last line is a
 * `Result` or a `Failure`.
 *
 * The caller must start the iteration. When the iteration ends or is abandoned, the replay ends and its files are
 * removed.
 */
export type ReplayAnswer = {
  readonly ok: true;
  readonly lines: AsyncIterable<Uint8Array>;
};

export type Replayer = { start(request: ReplayRequest): Promise<ReplayAnswer | ReplayRefusal> };
