import type { Clock } from '../../base/clock.ts';
import type { FrameEncoding, WatchEvent } from '../../watch/frame.ts';
import type { Representation } from '../representation/representation.ts';
import type { Place, ShownObjects } from './shown-objects.ts';

/**
 * Returns an encoding of events like `frames`, but with objects in another form, such as a row of a Table. Watchers
 * with the same form share the encoded bytes. `objects` caches converted objects.
 */
export function framesInForm(
  form: Representation,
  frames: FrameEncoding,
  clock: Clock,
  objects: ShownObjects,
): FrameEncoding {
  const encoder =
    (place: Place): FrameEncoding['encode'] =>
    (event, into) => {
      const shown = isObject(event)
        ? { ...event, object: objects.shown(form, place, event.object, clock.now()) }
        : event;
      frames.encode(shown, into);
    };
  const { mark } = frames;
  return {
    name: `${frames.name} ${form.name}`,
    encode: encoder('later'),
    ...(form.laterObject === undefined ? {} : { encodeFirst: encoder('first') }),
    ...(mark === undefined ? {} : { mark }),
  };
}

/** The object of an ERROR is always a plain `Status`. Other objects are converted to the form. */
function isObject({ type }: WatchEvent): boolean {
  return type !== 'ERROR';
}
