import type { Clock } from '../base/clock.ts';
import type { CopyProgress } from './log-copy-progress.ts';
import type { Founding } from '../log/founded-log.ts';
import type { EventLog, LogPosition } from '../log/log.ts';

export type LogCopyOptions = {
  readonly source: EventLog;
  /** Opened twice: what verifies must read what the target stored, not what its adapter remembers having been given. */
  readonly openTarget: () => Promise<EventLog>;
  readonly inFlightMax: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** What its operator sees meanwhile, a line at a time. */
  readonly tell: (line: string) => void;
  /** Ends it: its reason is thrown. */
  readonly signal?: AbortSignal;
};

/** One call of `copyLog`. */
export type CopyContext = LogCopyOptions & { readonly signal: AbortSignal; readonly progress: CopyProgress };

/** The source as it was when the copy began: it must not grow from then on. */
export type CopySource = { readonly founding: Founding; readonly head: LogPosition; readonly events: number };
