import type { Clock } from '../../base/clock.ts';
import type { FrameEncoding, WatchEvent } from '../../watch/frame.ts';
import type { Representation } from '../representation/representation.ts';
import type { Place, ShownObjects } from './shown-objects.ts';

/**
 * Returns an encoding of events like `frames`, but with objects in another form, such as a row of a Table. Watchers
 * with the same form share the encoded bytes, so ages in a Table are correct for the time of the encoding. Only the
 * first Table of a stream has column definitions. `objects` is a cache of converted objects, which many watches share.
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

/**
 * Whether the event's object is converted to the form. The object of an ERROR is always a plain `Status`. The object of
 * a BOOKMARK has only metadata, and is converted as in Kubernetes.
 */
function isObject({ type }: WatchEvent): boolean {
  return type !== 'ERROR';
}
