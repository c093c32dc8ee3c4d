import type { LogPosition } from '../log/log.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event before it is known how its watcher reads it. */
export type WatchEvent = {
  readonly type: EventType;
  /** The JSON of the event's object, on one line: for a change the very bytes GET would answer. */
  readonly object: Uint8Array;
  /** Where a watcher that has seen this event may resume; undefined within an initial state, which has no such place. */
  readonly position: LogPosition | undefined;
};

/** How events are put on one kind of wire. Watchers of one encoding can share bytes. */
export type FrameEncoding = {
  readonly name: string;
  /** Appends the pieces of one frame, which are joined later: the object is not copied twice. */
  readonly encode: (event: WatchEvent, into: Uint8Array[]) => void;
  /** Appends what tells the watcher where it may resume, without an event. Absent where the wire has no such word. */
  readonly mark?: (position: LogPosition, into: Uint8Array[]) => void;
};

/** `{"type":"ADDED","object":`; the object's bytes and one `}` complete the event. */
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

/** An event that says only how far the watcher has come. `mark` is how Kubernetes marks the end of the present state. */
export function bookmark(type: ResourceType, position: LogPosition, mark?: 'initial-events-end'): WatchEvent {
  const annotations = mark === undefined ? {} : { annotations: { 'k8s.io/initial-events-end': 'true' } };
  const object = { kind: type.kind, apiVersion: type.apiVersion, metadata: { resourceVersion: position.toString(), ...annotations } };
  return { type: 'BOOKMARK', object: Buffer.from(JSON.stringify(object)), position };
}
