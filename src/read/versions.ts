import type { LogPosition, StreamRevision } from '../log/log.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';

/**
 * The events of each object by position, as far as the audit indexes have folded the log. Each call is synchronous,
 * with a cost that is logarithmic in the number of versions. Pass only names that once had an object, because the
 * result for another name may belong to another object.
 */
export type VersionReader = {
  /**
   * Returns the last revision of an object's stream at or before a position of this epoch; undefined without such a
   * revision.
   */
  lastAt(type: TypeKey, name: string, position: LogPosition): StreamRevision | undefined;
  /** Returns the position of a revision of an object's stream; undefined if the revision is not folded. */
  positionOf(type: TypeKey, name: string, revision: StreamRevision): LogPosition | undefined;
};

/** The audit indexes lack a revision of an object's stream, and are thus wrong. */
export class MissingRevisionError extends Error {
  constructor(stream: string, revision: number) {
    super(`revision ${String(revision)} of ${stream} does not follow the last indexed revision`);
    this.name = 'MissingRevisionError';
  }
}

/** The position of the log at a time. */
export type LogTimes = {
  /**
   * Returns the greatest position, at most `head`, up to which no event is later than the time in epoch milliseconds.
   * Ignores events that are more than a minute ahead of a later event. The log may have no event at this exact
   * position. Undefined for a time before the first event.
   */
  positionAt(timeMs: number, head: LogPosition): LogPosition | undefined;
  /**
   * Returns the latest time in epoch milliseconds of the events up to a position. Undefined before the first event.
   * Ignores events that are more than a minute ahead of a later event.
   */
  timeAt(position: LogPosition): number | undefined;
  /** Returns the position of the log's first event in this epoch; undefined if no event is folded. */
  first(): LogPosition | undefined;
};
