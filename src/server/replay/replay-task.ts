import type { Config } from '../../config/config.ts';
import type { LogPosition } from '../../log/log.ts';
import type { Compared, Difference, Moment, RefusalReason, Selected } from '../../read/replay.ts';
import type { ThreadMessage } from '../threads/message-thread.ts';

/** The replayed part of the log, and the use of the replayed state. */
export type ReplayWork =
  /** Replays all events up to the position of the live read models in the folder `live`. */
  | { readonly kind: 'compare'; readonly live: string }
  /**
   * Compares with the live audit indexes in the folder `live`, and replays the log up to their position. `atLeast` is a
   * position that the indexes will reach; undefined if no process writes the indexes.
   */
  | { readonly kind: 'compare-audit'; readonly live: string; readonly atLeast: LogPosition | undefined }
  | { readonly kind: 'until'; readonly until: Moment }
  /** The changes between two moments. */
  | { readonly kind: 'diff'; readonly from: Moment; readonly until: Moment };

export type ReplayTask = {
  readonly config: Pick<Config, 'dataDir' | 'eventLog' | 'platformDomain'>;
  /** A folder for the tables of this replay, which must not exist yet. */
  readonly dir: string;
  /** The number of free bytes that the replay must leave on the disk. */
  readonly reserveBytes: number;
  readonly cells: Int32Array;
  readonly work: ReplayWork;
  /** The objects to print; undefined for none. */
  readonly print: Selected | undefined;
};

/** The index of the only cell in shared memory. The cell differs from 0 when the thread must end. */
export const stopCell = 0;
export const cellCount = 1;

export type Summary = {
  /** The position of the last folded event. */
  readonly position: string;
  readonly events: number;
  readonly objects: number;
};

/** `writing`: the fold has read all events and writes the results to the tables. */
export type ReplayStep = 'replaying' | 'writing' | 'comparing' | 'printing';

export type ReplayMessage =
  | ThreadMessage<RefusalReason>
  /**
   * `percent` is the completed share of the step. `position` is the position of the last folded event, and `events` is
   * the number of folded events.
   */
  | {
      readonly kind: 'progress';
      readonly step: ReplayStep;
      readonly position: string;
      readonly events: number;
      readonly percent: number;
    }
  | {
      readonly kind: 'compared';
      readonly difference: Difference | undefined;
      readonly compared: Compared;
      /** The types with columns for lists of the past. Undefined except in a comparison of audit indexes. */
      readonly columnTypes?: readonly string[];
    }
  /** Whole lines of the response, about objects of one type. The thread then waits for `more`. */
  | { readonly kind: 'lines'; readonly type: string; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly summary: Summary };

export type ReplayPorts = {
  readonly post: (message: ReplayMessage) => void;
  /** Sends a message. Resolves when the server requests more. */
  readonly send: (message: ReplayMessage) => Promise<void>;
  readonly isStopped: () => boolean;
};

/** The server's message that requests further lines. */
export const more = 'more';
