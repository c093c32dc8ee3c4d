import type { ObjectEvent } from '../command/event.ts';
import type { HeldReference } from '../resource/references/named-targets.ts';

const none: readonly HeldReference[] = [];

/** Returns the references that the object has after an event; none after its deletion. */
export function referencesOf(event: ObjectEvent): readonly HeldReference[] {
  return event.type === 'ObjectDeleted' ? none : (event.refs ?? none);
}
