import type { HeldValue } from '../../resource/type/held-values.ts';
import type { ClaimEvent, DomainEvent } from '../../command/event.ts';
import { decodeEvent, isObjectEvent } from '../../log/event-codec.ts';
import type { RecordedEvent } from '../../log/log.ts';
import type { ResourceObject } from '../../resource/object/object.ts';

/**
 * Repeats the whole object at the next revision, or takes the first revision of an absent name: the pending append is
 * then refused.
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
  return { type: 'NameFenced', object, values: event.values };
}

export function claimOf(recorded: RecordedEvent): ClaimEvent {
  const { event } = decodeEvent(recorded);
  if (event.type === 'ValueClaimed' || event.type === 'ValueReleased') return event;
  throw new Error(`the claim stream ${recorded.stream} holds a ${event.type}`);
}

/** Whether the object's last event holds the value. */
export function holds(head: RecordedEvent, value: HeldValue): boolean {
  const { event } = decodeEvent(head);
  return isObjectEvent(event) && event.values.some(({ index, hash }) => index === value.index && hash === value.hash);
}
