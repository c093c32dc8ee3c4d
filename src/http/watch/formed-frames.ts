import type { Clock } from '../../base/clock.ts';
import type { FrameEncoding, WatchEvent } from '../../watch/frame.ts';
import type { Representation } from '../representation/representation.ts';

/**
 * The encoding of events whose objects are shown in another form. Watchers with the same form share bytes, and the ages
 * in them are those at the time of the change. Only the first table of a stream has column definitions.
 */
export function framesInForm(form: Representation, frames: FrameEncoding, clock: Clock): FrameEncoding {
  const encoder =
    (shown: Representation['object']): FrameEncoding['encode'] =>
    (event, into) => {
      frames.encode(isObject(event) ? { ...event, object: shown(event.object, clock.now()) } : event, into);
    };
  const { mark } = frames;
  return {
    name: `${frames.name} ${form.name}`,
    encode: encoder((object, now) => (form.laterObject ?? form.object).call(form, object, now)),
    ...(form.laterObject === undefined ? {} : { encodeFirst: encoder((object, now) => form.object(object, now)) }),
    ...(mark === undefined ? {} : { mark }),
  };
}

/** An error is always a plain `Status`. A bookmark, an object with metadata only, takes the form, as in Kubernetes. */
function isObject({ type }: WatchEvent): boolean {
  return type !== 'ERROR';
}
