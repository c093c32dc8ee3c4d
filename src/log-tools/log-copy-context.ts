import type { Clock } from '../base/clock.ts';
import type { CopyProgress } from './log-copy-progress.ts';
import type { Founding } from '../log/founded-log.ts';
import type { EventLog, LogPosition } from '../log/log.ts';

export type LogCopyOptions = {
  readonly source: EventLog;
  /**
   * Opens the target. Called twice, because the verification must read the stored events and not the adapter's memory.
   */
  readonly openTarget: () => Promise<EventLog>;
  readonly inFlightMax: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly print: (line: string) => void;
  /** After an abort, the copy throws the signal's reason. */
  readonly signal?: AbortSignal;
};

/** The options and the state of one call of `copyLog`. */
export type CopyContext = LogCopyOptions & {
  readonly signal: AbortSignal;
  readonly progress: CopyProgress;
};

/** The source at the start of the copy. The source must not grow during the copy. */
export type CopySource = {
  readonly founding: Founding;
  readonly head: LogPosition;
  readonly events: number;
};
