import type { LogPosition } from '../log/log.ts';
import type { Change } from '../read/objects.ts';
import type { Selection } from '../resource/query/list-query.ts';
import { matches } from '../resource/query/selection-match.ts';
import { must } from '../base/unreachable.ts';
import type { WatchEvent } from './frame.ts';

/** The members of a change that a watch needs. */
export type ShownChange = Pick<Change, 'kind' | 'position' | 'bytes' | 'before' | 'after' | 'previousBytes'>;

const typeOf = { added: 'ADDED', modified: 'MODIFIED', deleted: 'DELETED' } as const;

/** Returns the event of a change, for a watch that selects everything. */
export function plainEvent({ kind, bytes, position }: ShownChange): WatchEvent {
  return { type: typeOf[kind], object: bytes, position };
}

/**
 * Returns the type of the watch event for a change. `was`: the object is selected before the change. `is`: the object
 * is selected after the change. Returns undefined if both are false.
 */
export function transition(was: boolean, is: boolean): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined {
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

/**
 * Returns the event of a change for `selection`; undefined if the object is selected neither before nor after the
 * change. `shownLast` returns the last selected state of an object that leaves the selection.
 */
export function selectedEvent(
  selection: Selection,
  change: ShownChange,
  shownLast: (change: ShownChange) => Uint8Array = lastSelected,
): WatchEvent | undefined {
  const was = change.before !== undefined && matches(selection, change.before);
  const is = change.after !== undefined && matches(selection, change.after);
  const type = transition(was, is);
  if (type === undefined) return undefined;
  const left = type === 'DELETED' && change.kind !== 'deleted';
  return {
    type,
    object: left ? shownLast(change) : change.bytes,
    position: change.position,
  };
}

/**
 * Returns the state before a change, with the position of the change as the resourceVersion. A watch shows this state
 * when an object leaves the selection.
 */
export function lastSelected({ previousBytes, position }: ShownChange): Uint8Array {
  return withResourceVersion(must(previousBytes, 'a previously selected object has a previous state')(), position);
}

const opening = Buffer.from('"metadata":{"resourceVersion":"');
const quote = 0x22;

/**
 * Replaces the resourceVersion in the JSON of an object. The first match of `opening` is in the metadata, because
 * quotes inside strings are escaped.
 */
export function withResourceVersion(answer: Uint8Array, position: LogPosition): Uint8Array {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  const found = bytes.indexOf(opening);
  if (found === -1)
    throw new Error('invariant violated: the metadata of an object does not start with resourceVersion');
  const start = found + opening.length;
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(position.toString(), 'latin1'),
    bytes.subarray(bytes.indexOf(quote, start)),
  ]);
}
