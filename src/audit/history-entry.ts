import type { Steps } from '../base/steps.ts';
import { decodeEvent, decodeMetadata, isObjectEvent, objectAnswer } from '../log/event-codec.ts';
import type { RecordedEvent } from '../log/log.ts';
import type { EventPair } from './event-pairs.ts';
import { causeMembers } from './stream/event-fields.ts';
import { jsonDiff, type Operation } from '../resource/object/json-diff.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { pastAnswer, versionedObject } from '../resource/type/versions/shown-version.ts';

/**
 * Computes an entry of an object's history as JSON: the event, its cause, and the change since the previous event. With
 * `withObject`, the entry also contains the object after the event. Returns undefined for an event without an object.
 *
 * The change is a JSON Patch (RFC 6902). The patch of an object's first event adds the whole document, so the patches
 * of one object, applied in order, give each state of the object.
 */
export function* historyEntry(
  { event, previous }: EventPair,
  { objects, withObject }: { readonly objects: EventObjects; readonly withObject: boolean },
): Steps<Buffer | undefined> {
  const object = objects.of(event);
  if (object === undefined) return undefined;
  const change = yield* changeOf({ event, previous }, object, objects);
  yield;
  const entry = Buffer.from(JSON.stringify({ ...membersOf(event, object), change }));
  const state = withObject ? objects.answerOf(event) : undefined;
  if (state === undefined) return entry;
  return Buffer.concat([entry.subarray(0, -1), Buffer.from(',"object":'), state, Buffer.from('}')]);
}

/** Returns the change from the state before an event to `object`, the state after the event. */
export function* changeOf(
  { event, previous }: EventPair,
  object: ResourceObject,
  objects: EventObjects,
): Steps<readonly Operation[]> {
  // Decoding a very large object takes a dozen milliseconds, and so does a comparison.
  yield;
  const before = baseOf(event, previous, objects);
  yield;
  return before === undefined ? [{ op: 'add', path: '', value: object }] : yield* jsonDiff(before, object);
}

/**
 * Decodes the objects of events. Caches the last two objects, because each object is needed for the entries of two
 * events.
 */
export class EventObjects {
  #last: readonly Known[] = [];
  readonly #type: ResourceType | undefined;

  /**
   * `type` is the type, in the version of the returned objects. If undefined, each object has the version in its event.
   */
  constructor(type?: ResourceType) {
    this.#type = type;
  }

  /** Returns the object after an event, without `metadata.resourceVersion`; undefined without an object. */
  of(recorded: RecordedEvent): ResourceObject | undefined {
    const known = this.#last.find(({ recorded: one }) => one === recorded);
    if (known !== undefined) return known.object;
    const { event } = decodeEvent(recorded);
    const stored = isObjectEvent(event) ? event.object : undefined;
    const object = stored === undefined || this.#type === undefined ? stored : versionedObject(stored, this.#type);
    this.#last = [...this.#last.slice(-1), { recorded, object }];
    return object;
  }

  /** Returns the JSON of the object after an event, with the resourceVersion; undefined without an object. */
  answerOf(recorded: RecordedEvent): Uint8Array | undefined {
    const answer = objectAnswer(recorded, recorded.position);
    return answer === undefined || this.#type === undefined ? answer : pastAnswer(answer, this.#type);
  }
}

type Known = {
  readonly recorded: RecordedEvent;
  readonly object: ResourceObject | undefined;
};

/** Returns the object before an event; undefined for the first event of an object. */
function baseOf(
  { type }: RecordedEvent,
  previous: RecordedEvent | undefined,
  objects: EventObjects,
): ResourceObject | undefined {
  if (previous === undefined || type === 'ObjectCreated' || previous.type === 'ObjectDeleted') return undefined;
  return objects.of(previous);
}

/** JSON omits undefined members. */
function membersOf(event: RecordedEvent, { metadata: { uid } }: ResourceObject): Readonly<Record<string, unknown>> {
  const position = event.position.toString();
  return {
    id: event.id,
    event: event.type,
    position,
    resourceVersion: position,
    version: event.revision,
    uid,
    ...causeMembers(decodeMetadata(event)),
  };
}
