import { isList, isObject } from '../base/guards.ts';
import type { HeldValue } from '../resource/type/held-values.ts';
import { decodeEvent, isObjectEvent, isObjectType } from './event-codec.ts';
import { LogCorruptError, type RecordedEvent } from './log.ts';

/** An object event without its object. */
export type EventOutline = {
  readonly values: readonly Pick<HeldValue, 'index'>[];
  readonly hasObject: boolean;
};

const opening = Buffer.from('{"values":[');
const separator = Buffer.from('],"object":{');
const references = Buffer.from('],"refs":[');
const closingBrace = 0x7d;
const noValues: EventOutline = { values: [], hasObject: true };

/** Returns the outline of an event in an object's stream. Decodes the whole event only if its form is unexpected. */
export function outlineOf(recorded: RecordedEvent): EventOutline {
  const { data, type } = recorded;
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!isObjectType(type) || !startsWith(bytes, opening, 0) || bytes.at(-1) !== closingBrace) return decoded(recorded);
  if (startsWith(bytes, separator, opening.length)) return noValues;
  // No string in the values can contain a separator, because JSON escapes quotes.
  const beforeObject = bytes.indexOf(separator);
  if (beforeObject === -1) return decoded(recorded);
  // The values end where the references begin. Without references, the values end where the object begins.
  const beforeReferences = bytes.subarray(0, beforeObject).indexOf(references, opening.length - 1);
  const end = beforeReferences === -1 ? beforeObject : beforeReferences;
  const values = valuesIn(bytes.toString('utf8', opening.length - 1, end + 1));
  return values === undefined ? decoded(recorded) : { values, hasObject: true };
}

function valuesIn(text: string): EventOutline['values'] | undefined {
  try {
    const values: unknown = JSON.parse(text);
    return isList(values) && values.every(isHeld) ? values : undefined;
  } catch {
    return undefined;
  }
}

function isHeld(value: unknown): value is Pick<HeldValue, 'index'> {
  return isObject(value) && typeof value['index'] === 'string';
}

function startsWith(bytes: Buffer, expected: Buffer, at: number): boolean {
  for (let index = 0; index < expected.length; index += 1) if (bytes[at + index] !== expected[index]) return false;
  return true;
}

function decoded(recorded: RecordedEvent): EventOutline {
  const { event } = decodeEvent(recorded);
  if (!isObjectEvent(event))
    throw new LogCorruptError(
      `${recorded.stream} contains a ${event.type} event, which does not belong to this stream`,
    );
  return { values: event.values, hasObject: event.object !== undefined };
}
