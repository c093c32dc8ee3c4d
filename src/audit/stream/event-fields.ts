import type { EventMetadata } from '../../command/event.ts';
import { decodeEvent, decodeMetadata, isObjectEvent } from '../../log/event-codec.ts';
import type { RecordedEvent } from '../../log/log.ts';
import { isOfObject, isSecret, placeOf } from '../../read/event-place.ts';
import { uidIn } from './uid-in.ts';

/** The fields of an event that a fieldSelector can name, besides `time` and `position`. */
export const eventFields = [
  'actor',
  'onBehalfOf',
  'user',
  'type',
  'name',
  'uid',
  'verb',
  'requestId',
  'address',
  'event',
  'id',
  'token',
  'plugin',
  'cause',
  'correlationId',
] as const;

export type EventField = (typeof eventFields)[number];

/** The values of one event's fields. The metadata is decoded on demand. */
export class EventValues {
  readonly event: RecordedEvent;
  #metadata: EventMetadata | undefined;

  constructor(event: RecordedEvent) {
    this.event = event;
  }

  get metadata(): EventMetadata {
    return (this.#metadata ??= decodeMetadata(this.event));
  }

  /** Returns all values of a field. The field `user` has two values for a write on behalf of a user. */
  allOf(field: EventField): readonly string[] {
    const values = field === 'user' ? [this.of('actor'), this.of('onBehalfOf')] : [this.of(field)];
    return values.filter((value) => value !== undefined);
  }

  /** Returns undefined if the event has no value for the field. */
  of(field: Exclude<EventField, 'user'>): string | undefined {
    switch (field) {
      case 'type':
      case 'name':
        return placeOf(this.event.stream)[field];
      case 'id':
        return this.event.id;
      case 'event':
        return this.event.type;
      case 'uid':
        return uidOf(this.event);
      case 'cause':
        return this.metadata.$causationId;
      case 'correlationId':
        return this.metadata.$correlationId;
      default:
        return this.metadata[field];
    }
  }
}

/**
 * Returns the uid of the event's object; undefined without an object. For a secret, returns the uid in the name of the
 * stream.
 */
function uidOf(event: RecordedEvent): string | undefined {
  const place = placeOf(event.stream);
  if (isSecret(place)) return place.name;
  if (!isOfObject(place)) return undefined;
  const text = uidIn(event);
  if (text !== undefined) return text;
  const { event: decoded } = decodeEvent(event);
  return isObjectEvent(decoded) ? decoded.object?.metadata.uid : undefined;
}

/** Returns the members of an event that come from its metadata. JSON omits undefined members. */
export function causeMembers(metadata: EventMetadata): Readonly<Record<string, string | undefined>> {
  return {
    time: metadata.time,
    actor: metadata.actor,
    onBehalfOf: metadata.onBehalfOf,
    token: metadata.token,
    verb: metadata.verb,
    address: metadata.address,
    userAgent: metadata.userAgent,
    requestId: metadata.requestId,
    traceParent: metadata.traceParent,
    plugin: metadata.plugin,
    restoredFrom: metadata.restoredFrom,
    cause: metadata.$causationId,
  };
}
