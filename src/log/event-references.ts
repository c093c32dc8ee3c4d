import type { ObjectEvent } from '../command/event.ts';
import type { HeldReference } from '../resource/references/named-targets.ts';

const none: readonly HeldReference[] = [];

/** Returns the references of the object after an event. */
export function referencesOf(event: ObjectEvent): readonly HeldReference[] {
  return event.type === 'ObjectDeleted' ? none : (event.refs ?? none);
}
