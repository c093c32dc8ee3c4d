/** The port of replays: the log folded anew, and compared with the read models or shown. */

/**
 * The first place at which two read models differ. `detail` never holds the contents of secrets: it names the place,
 * and hashes of other contents.
 */
export type Difference = {
  /** `rows`, `gone`, `heads`, `secrets` or `meta`; in memory: `index <name> of <type>`, `permissions: <table>`. */
  readonly table: string;
  readonly key: string;
  readonly detail: string;
};

/** How many entries a comparison has read, by table. */
export type Compared = Readonly<Record<string, number>>;

/** A place in the log: a position, or where the log stood at a time (epoch milliseconds). */
export type Moment =
  { readonly kind: 'position'; readonly position: bigint } | { readonly kind: 'time'; readonly timeMs: number };

/** Objects to show: all, those of a type, or one. */
export type Selected = { readonly type: string | undefined; readonly name: string | undefined };

export type ReplayRequest = {
  /** The changes after this moment are shown, up to `until`; undefined: no changes are shown. */
  readonly from?: Moment | undefined;
  /** Undefined: everything, compared with the read models. */
  readonly until: Moment | undefined;
  /** Of these objects the state or the changes are shown; undefined: of none. */
  readonly print: Selected | undefined;
  /** Whether objects of this type may be shown. */
  readonly mayRead: (type: string) => boolean;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

export type RefusalReason = 'bad-request' | 'expired' | 'insufficient-storage' | 'unavailable' | 'not-found';

export type ReplayRefusal = {
  readonly ok: false;
  readonly reason: RefusalReason | 'too-many-requests';
  readonly detail: string;
};

/**
 * JSON lines, each with its `kind`: `Progress`, `Object`, `Change`, and one `Result` or `Failure` at the end. The
 * iteration must be started; when it ends or is abandoned, the replay ends and its files are removed.
 */
export type ReplayAnswer = { readonly ok: true; readonly lines: AsyncIterable<Uint8Array> };

export type Replayer = { start(request: ReplayRequest): Promise<ReplayAnswer | ReplayRefusal> };
