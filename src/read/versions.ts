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
