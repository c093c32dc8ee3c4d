import type { LogPosition } from '../log/log.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event before encoding. */
export type WatchEvent = {
  readonly type: EventType;
  /** The JSON of the event's object, on one line. For ADDED and MODIFIED, the bytes of a GET response. */
  readonly object: Uint8Array;
  /** The position from which a client may resume after this event; undefined within an initial state, and for ERROR. */
  readonly position: LogPosition | undefined;
};

/** The encoding of events for one kind of connection. Watchers share buffers only if they have the same encoding. */
export type FrameEncoding = {
  readonly name: string;
  /** Appends the parts of one frame. The caller joins the parts later, so that the object is copied only once. */
  readonly encode: (event: WatchEvent, into: Uint8Array[]) => void;
  /** Replaces `encode` for the first event of a stream. Absent without a special encoding. */
  readonly encodeFirst?: (event: WatchEvent, into: Uint8Array[]) => void;
  /** Appends a position to resume from, without an event. Absent if the format does not support such positions. */
  readonly mark?: (position: LogPosition, into: Uint8Array[]) => void;
};

/** The start of each event, such as `{"type":"ADDED","object":`. The object's bytes and one `}` complete the event. */
export const eventOpenings: Readonly<Record<EventType, Buffer>> = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
  BOOKMARK: opening('BOOKMARK'),
  ERROR: opening('ERROR'),
};

function opening(type: EventType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}
