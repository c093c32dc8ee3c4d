import type { LogPosition, StreamRevision } from '../log/log.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';

/**
 * The events of each object by their positions, as far as this node's audit indexes have folded the log
 * (`AuditProgress.position()`). Synchronous, in a number of steps that grows with the logarithm of an object's
 * versions. Only for names that had an object once: for another name the answer may be that of an object.
 */
export type VersionReader = {
  /** The last event of an object's stream at or before a position of this epoch; undefined if there is none. */
  lastAt(type: TypeKey, name: string, position: LogPosition): StreamRevision | undefined;
  /** The position of a revision of an object's stream; undefined if it is not folded. */
  positionOf(type: TypeKey, name: string, revision: StreamRevision): LogPosition | undefined;
};

/** Where the log stood at a time. */
export type LogTimes = {
  /**
   * The last position up to `head` at which no event that counts is later than the time, in epoch milliseconds; the log
   * may have no event at just that position. Undefined for a time before the first event. An event more than a minute
   * ahead of a later one does not count.
   */
  positionAt(timeMs: number, head: LogPosition): LogPosition | undefined;
  /** The position of the log's first event in this epoch; undefined if none is folded. */
  first(): LogPosition | undefined;
};
