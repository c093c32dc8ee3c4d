import type { LogPosition } from '../log/log.ts';
import type { Change } from '../read/objects.ts';
import type { Selection } from '../resource/query/list-query.ts';
import { matches } from '../resource/query/match.ts';
import { must } from '../base/unreachable.ts';
import type { WatchEvent } from './frame.ts';

/** What a watcher needs of a change, whether it was just folded or is read back from the log. */
export type ShownChange = Pick<Change, 'kind' | 'position' | 'bytes' | 'before' | 'after' | 'previousBytes'>;

const typeOf = { added: 'ADDED', modified: 'MODIFIED', deleted: 'DELETED' } as const;

/** The event of a change for those who selected everything. */
export function plainEvent({ kind, bytes, position }: ShownChange): WatchEvent {
  return { type: typeOf[kind], object: bytes, position };
}

/** What a change is to a watcher by whether its object was selected before and is selected now. */
export function transition(was: boolean, is: boolean): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined {
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

/** The event of a change for those who selected by `selection`; undefined when it does not concern them. */
export function selectedEvent(selection: Selection, change: ShownChange): WatchEvent | undefined {
  const was = change.before !== undefined && matches(selection, change.before);
  const is = change.after !== undefined && matches(selection, change.after);
  const type = transition(was, is);
  if (type === undefined) return undefined;
  const left = type === 'DELETED' && change.kind !== 'deleted';
  return { type, object: left ? lastSelected(change) : change.bytes, position: change.position };
}

/** An object that ceases to be selected is shown as it was before the change, at the change's position. */
function lastSelected({ previousBytes, position }: ShownChange): Uint8Array {
  return withResourceVersion(must(previousBytes, 'an object that was selected had a state')(), position);
}

const opening = Buffer.from('"metadata":{"resourceVersion":"');
const quote = 0x22;

/** The same answer at another position. Its metadata is the first text like this: nothing before it can hold a bare quote. */
export function withResourceVersion(answer: Uint8Array, position: LogPosition): Uint8Array {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  const found = bytes.indexOf(opening);
  if (found === -1) throw new Error('invariant broken: an answer holds its resourceVersion first in its metadata');
  const start = found + opening.length;
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(position.toString(), 'latin1'), bytes.subarray(bytes.indexOf(quote, start))]);
}
