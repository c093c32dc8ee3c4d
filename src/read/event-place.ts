import type { StreamName } from '../log/log.ts';

/**
 * The category, type and name in the name of an event's stream. If the event belongs to no object, `type` equals the
 * category, and `name` is the rest of the stream name.
 */
export type EventPlace = {
  readonly category: string;
  readonly type: string;
  readonly name: string;
};

const objectPrefix = 'object:';

/** Splits a stream name: `object:<plural>.<group>/<name>`, or `<category>:<name>`. */
export function placeOf(stream: StreamName): EventPlace {
  if (!stream.startsWith(objectPrefix)) {
    const colon = stream.indexOf(':');
    const category = stream.slice(0, colon);
    return { category, type: category, name: stream.slice(colon + 1) };
  }
  const slash = stream.indexOf('/');
  return {
    category: 'object',
    type: stream.slice(objectPrefix.length, slash),
    name: stream.slice(slash + 1),
  };
}

/**
 * Returns whether an event contains a password hash or token digest. Only the SHA-256 of its data is shown (decision
 * 7.1).
 */
export function isSecret({ category }: Pick<EventPlace, 'category'>): boolean {
  return category === 'secret';
}

export function isOfObject({ category }: Pick<EventPlace, 'category'>): boolean {
  return category === 'object';
}
