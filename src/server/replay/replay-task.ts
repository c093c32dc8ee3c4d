import type { Config } from '../../config/config.ts';
import type { Compared, Difference, Moment, RefusalReason, Selected } from '../../read/replay.ts';

/** The part of the log that is replayed, and its use. */
export type ReplayWork =
  /** Everything up to the live read models in `live`. `isShared`: this process writes them meanwhile. */
  | { readonly kind: 'compare'; readonly live: string; readonly isShared: boolean }
  | { readonly kind: 'until'; readonly until: Moment }
  /** The changes between two moments. */
  | { readonly kind: 'diff'; readonly from: Moment; readonly until: Moment };

export type ReplayTask = {
  readonly config: Pick<Config, 'dataDir' | 'eventLog' | 'platformDomain'>;
  /** A folder for the tables of this replay alone; it must not exist. */
  readonly dir: string;
  /** The free bytes that the replay leaves on the disk. */
  readonly reserveBytes: number;
  readonly cells: Int32Array;
  readonly work: ReplayWork;
  /** Undefined: no objects are printed. */
  readonly print: Selected | undefined;
};

/** The shared cells. `stop`: not 0 once the thread should end. `gate`: where the two threads are to meet. */
export const stopCell = 0;
export const gateCell = 1;
export const cellCount = 2;

/** The states of the gate, in this order; `withdrawn` begins anew. */
export const gate = { closed: 0, asked: 1, taken: 2, withdrawn: 3 } as const;

export type Summary = {
  /** The position of the last event that was folded. */
  readonly position: string;
  readonly events: number;
  readonly objects: number;
};

/** From the thread. */
export type ThreadMessage =
  /** Nothing was replayed: the request cannot be served. */
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly detail: string }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'progress'; readonly position: string; readonly events: number; readonly percent: number }
  /** It waits at the gate. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'compared'; readonly difference: Difference | undefined; readonly compared: Compared }
  /** Whole lines of the answer, about objects of one type. It waits for `more`. */
  | { readonly kind: 'lines'; readonly type: string; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly summary: Summary }
  | { readonly kind: 'failed'; readonly reason: RefusalReason | 'failed'; readonly detail: string };

/** To the thread: the last lines were taken. */
export const more = 'more';
