import type { HeldValue } from '../../resource/type/held-values.ts';
import type { ClaimEvent, DomainEvent } from '../../command/event.ts';
import { decodeEvent, isObjectEvent } from '../../log/event-codec.ts';
import { referencesOf } from '../../log/event-references.ts';
import type { RecordedEvent } from '../../log/log.ts';
import type { ResourceObject } from '../../resource/object/object.ts';

/**
 * Returns a fence after `head`, the last event of an object's stream. The fence takes the next revision, so that the
 * log refuses a pending append at this revision. The fence repeats the whole object.
 */
export function fenceOf(head: RecordedEvent | undefined): DomainEvent {
  if (head === undefined) return { type: 'NameFenced', values: [] };
  const { event } = decodeEvent(head);
  if (!isObjectEvent(event) || event.object === undefined || event.type === 'ObjectDeleted')
    return { type: 'NameFenced', values: [] };
  const object: ResourceObject = {
    ...event.object,
    metadata: { ...event.object.metadata, version: head.revision + 1 },
  };
  const refs = referencesOf(event);
  return { type: 'NameFenced', object, values: event.values, ...(refs.length === 0 ? {} : { refs }) };
}

export function claimOf(recorded: RecordedEvent): ClaimEvent {
  const { event } = decodeEvent(recorded);
  if (event.type === 'ValueClaimed' || event.type === 'ValueReleased') return event;
  throw new Error(`${recorded.stream} contains a ${event.type} event, which does not belong to this stream`);
}

/** Returns whether `head`, the last event of an object, contains the value. */
export function holds(head: RecordedEvent, value: HeldValue): boolean {
  const { event } = decodeEvent(head);
  return isObjectEvent(event) && event.values.some(({ index, hash }) => index === value.index && hash === value.hash);
}
