import { hash } from 'node:crypto';

import type { Steps } from '../../base/steps.ts';
import { objectAnswer } from '../../log/event-codec.ts';
import type { RecordedEvent } from '../../log/log.ts';
import { changeOf, EventObjects } from '../history-entry.ts';
import { causeMembers, EventValues } from './event-fields.ts';
import { isOfObject, isSecret, placeOf } from '../../read/event-place.ts';

/** The optional parts of a shown event. */
export type EventParts = {
  readonly object: boolean;
  readonly change: boolean;
  readonly data: boolean;
};

export const membersAlone: EventParts = { object: false, change: false, data: false };

const close = Buffer.from('}');

/** Returns an event as JSON, without its change. Secret data is shown as a SHA-256. */
export function shownEvent(event: RecordedEvent, apiVersion: string, parts: EventParts): Buffer {
  const place = placeOf(event.stream);
  const pieces: Uint8Array[] = [membersOf(event, apiVersion).subarray(0, -1)];
  // The data of `AccessRecorded` is always shown, because no other member contains the log-ins and refusals.
  if ((parts.data || event.type === 'AccessRecorded') && !isSecret(place)) pieces.push(dataMember, event.data);
  const object = parts.object && isOfObject(place) ? objectAnswer(event, event.position) : undefined;
  if (object !== undefined) pieces.push(objectMember, object);
  return Buffer.concat([...pieces, close]);
}

/**
 * Returns an event as JSON, with the change of its object since `previous`, the previous event of the stream. An event
 * without an object has no change.
 */
export function* shownChange(
  { event, previous }: { readonly event: RecordedEvent; readonly previous: RecordedEvent | undefined },
  apiVersion: string,
  parts: EventParts,
): Steps<Buffer> {
  const objects = new EventObjects();
  const object = isOfObject(placeOf(event.stream)) ? objects.of(event) : undefined;
  if (object === undefined) return shownEvent(event, apiVersion, parts);
  const change = yield* changeOf({ event, previous }, object, objects);
  yield;
  const text = Buffer.from(JSON.stringify(change));
  yield;
  return Buffer.concat([shownEvent(event, apiVersion, parts).subarray(0, -1), changeMember, text, close]);
}

const dataMember = Buffer.from(',"data":');
const objectMember = Buffer.from(',"object":');
const changeMember = Buffer.from(',"change":');

function membersOf(event: RecordedEvent, apiVersion: string): Buffer {
  const values = new EventValues(event);
  const position = event.position.toString();
  const { type, name, category } = placeOf(event.stream);
  const { time, ...request } = causeMembers(values.metadata);
  return Buffer.from(
    JSON.stringify({
      apiVersion,
      kind: 'Event',
      metadata: { resourceVersion: position, name: position, uid: event.id, creationTimestamp: time },
      id: event.id,
      event: event.type,
      position,
      resourceVersion: position,
      stream: event.stream,
      type,
      name,
      uid: values.of('uid'),
      version: event.revision,
      time,
      ...request,
      correlationId: values.metadata.$correlationId,
      dataSha256: isSecret({ category }) ? hash('sha256', event.data) : undefined,
    }),
  );
}
