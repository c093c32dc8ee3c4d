import type { Clock } from '../base/clock.ts';
import type { CopyProgress } from './log-copy-progress.ts';
import type { Founding } from '../log/founded-log.ts';
import type { EventLog, LogPosition } from '../log/log.ts';

export type LogCopyOptions = {
  readonly source: EventLog;
  /**
   * Opens the target. It is opened twice, because the verification must read the stored events and not the adapter's
   * memory.
   */
  readonly openTarget: () => Promise<EventLog>;
  readonly inFlightMax: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** Prints one line of progress for the operator. */
  readonly print: (line: string) => void;
  /** Stops the copy and throws the signal's reason. */
  readonly signal?: AbortSignal;
};

/** One call of `copyLog`. */
export type CopyContext = LogCopyOptions & { readonly signal: AbortSignal; readonly progress: CopyProgress };

/** The source when the copy started: it must not grow. */
export type CopySource = { readonly founding: Founding; readonly head: LogPosition; readonly events: number };
