import type { ObjectEvent } from '../command/event.ts';
import type { HeldReference } from '../resource/references/named-targets.ts';

const none: readonly HeldReference[] = [];

/** Returns the references that an object has after an event; none after the object's deletion. */
export function referencesOf(event: ObjectEvent): readonly HeldReference[] {
  return event.type === 'ObjectDeleted' ? none : (event.refs ?? none);
}
