import type { RecordedEvent } from '../../log/log.ts';
import type { EventClause } from '../../read/event-index.ts';
import type { IndexRequirement } from '../../resource/query/list-query.ts';
import { matchesKeys } from '../../resource/query/selection-match.ts';
import { stringKey, stringOfKey } from '../../resource/type/index-key.ts';
import { eventFields, EventValues, type EventField } from './event-fields.ts';

/** The fields that exist only in the object's JSON, and are checked last because the JSON may be long. */
const ofObject: ReadonlySet<EventField | undefined> = new Set(['uid']);
const indexed: ReadonlySet<EventField | undefined> = new Set(['type', 'name', 'actor', 'onBehalfOf', 'user']);

/** The conditions on the fields of an event. A selected event meets all conditions. */
export class EventSelection {
  readonly requirements: readonly IndexRequirement[];

  constructor(requirements: readonly IndexRequirement[]) {
    this.requirements = requirements.toSorted(
      (one, other) => Number(ofObject.has(fieldOf(one))) - Number(ofObject.has(fieldOf(other))),
    );
  }

  /** Returns the conditions that the index can check. */
  clauses(): readonly EventClause[] {
    return this.requirements.flatMap((requirement) => {
      const field = fieldOf(requirement);
      if (requirement.operator !== 'in' || !isIndexed(field)) return [];
      return [{ field, values: requirement.keys.map((key) => stringOfKey(String(key))) }];
    });
  }

  matches(event: RecordedEvent): boolean {
    const values = new EventValues(event);
    return this.requirements.every((requirement) => {
      const field = fieldOf(requirement);
      if (field === undefined || (ofObject.has(field) && !mayHold(event, requirement))) return false;
      return matchesKeys(requirement, values.allOf(field).map(stringKey));
    });
  }
}

/** Returns the condition that the field `type` has one of these values. */
export function ofTypes(types: readonly string[]): IndexRequirement {
  return {
    index: eventFields.indexOf('type'),
    operator: 'in',
    keys: types.map(stringKey),
  };
}

function fieldOf({ index }: IndexRequirement): EventField | undefined {
  return eventFields[index];
}

function isIndexed(field: EventField | undefined): field is EventClause['field'] {
  return indexed.has(field);
}

/**
 * Returns whether the event can meet the condition, without decoding. False if neither the stream name nor the data
 * contains a requested value.
 */
function mayHold({ data, stream }: RecordedEvent, requirement: IndexRequirement): boolean {
  if (requirement.operator !== 'in') return true;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return requirement.keys.some((key) => stream.includes(String(key)) || bytes.includes(String(key)));
}
