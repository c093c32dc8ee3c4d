import { shownObjectBytesMin, shownObjectsBytesMax } from '../../limits/watches.ts';
import type { Representation } from '../representation/representation.ts';

export type Place = 'first' | 'later';

type Kept = {
  readonly made: Map<Representation, Partial<Record<Place, Buffer>>>;
  bytes: number;
};

type ShownPlace = {
  readonly form: Representation;
  readonly place: Place;
};

/**
 * Caches the converted forms of large objects, such as Table rows, until the current second ends. A user may open
 * thousands of watches, and a conversion takes milliseconds for a megabyte.
 */
export class ShownObjects {
  /** The converted forms, by the byte array of the object. All watches receive a change with the same byte array. */
  readonly #kept = new Map<Uint8Array, Kept>();
  #second = -1;
  #bytes = 0;

  /** The total size of the entries with their objects, in bytes: at most `shownObjectsBytesMax`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the object in the form. `now` is in epoch milliseconds. */
  shown(form: Representation, place: Place, object: Uint8Array, now: number): Buffer {
    if (object.length < shownObjectBytesMin) return made(form, place, object, now);
    this.#beginSecond(Math.floor(now / 1_000));
    const present = this.#kept.get(object)?.made.get(form)?.[place];
    if (present !== undefined) return present;
    const fresh = alone(made(form, place, object, now));
    this.#keep(object, fresh, { form, place });
    return fresh;
  }

  #beginSecond(second: number): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(object: Uint8Array, fresh: Buffer, { form, place }: ShownPlace): void {
    const kept: Kept = this.#kept.get(object) ?? { made: new Map(), bytes: 0 };
    const more = fresh.length + (kept.bytes === 0 ? object.length : 0);
    this.#bytes += more;
    kept.bytes += more;
    kept.made.set(form, { ...kept.made.get(form), [place]: fresh });
    this.#kept.set(object, kept);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= shownObjectsBytesMax) return;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

function made(form: Representation, place: Place, object: Uint8Array, now: number): Buffer {
  return place === 'later' && form.laterObject !== undefined ? form.laterObject(object, now) : form.object(object, now);
}

/** Copies a view that is shorter than half of its buffer, so that the cache does not keep the buffer in memory. */
function alone(view: Buffer): Buffer {
  return view.length * 2 < view.buffer.byteLength ? Buffer.from(view) : view;
}
