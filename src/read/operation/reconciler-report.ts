/** A part of a list: the first items, and the number of all items. */
export type Sample<T> = { readonly total: number; readonly items: readonly T[] };

/** A name with a failed last step. Times are RFC 3339 texts. */
export type FailingName = {
  readonly name: string;
  /** The number of consecutive failures. */
  readonly attempts: number;
  readonly failedAt: string;
  /** The time of the next try; absent if the name is queued or its step is running. */
  readonly nextTryAt?: string;
  readonly error: string;
};

/** The state of one reconciler on this node. Only the leader has queued, delayed, running and failing names. */
export type ReconcilerReport = {
  /** The plugin of the reconciler, or `platform`. */
  readonly plugin: string;
  /** Unique in its plugin. */
  readonly name: string;
  /** The type of the reconciled objects, as `<plural>.<group>`; absent if the reconciler serves several types. */
  readonly type?: string;
  /** The number of names that wait for a step. */
  readonly queued: number;
  /** The number of names with a running step within its time limit. */
  readonly running: number;
  /** The number of names with a step at a later time, including failing and slowed names. */
  readonly delayed: number;
  /** Names with a failed last step. The items are at most 16, with errors of at most 512 characters. */
  readonly failing: Sample<FailingName>;
  /** Names with a running step that has exceeded its time limit. */
  readonly stuck: Sample<{ readonly name: string }>;
  /** Names that are slowed down because their steps cause each other. */
  readonly slowed: Sample<{ readonly name: string; readonly reason: string; readonly nextTryAt?: string }>;
  /** The number of ended steps by result since the start of the process; `stuck` counts exceeded time limits. */
  readonly steps: Readonly<Record<'settled' | 'again' | 'failed' | 'stuck', number>>;
  /** The time of the last step that did not fail; absent if there was none since the start of the process. */
  readonly lastSuccessAt?: string;
};

/** The reconcilers of this node. */
export type ReconcilerReports = { reports(): readonly ReconcilerReport[] };
