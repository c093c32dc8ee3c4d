import { ByteWriter } from './byte-writer.ts';
import { findMembers, placesFor, wantedMembers } from './json-places.ts';
import type { Representation, Shown } from './representation.ts';

const wanted = wantedMembers(['/metadata']);
const comma = Buffer.from(',');
const end = Buffer.from('}');
export const noMetadata: Buffer = Buffer.from('{}');

/** Kubernetes' PartialObjectMetadata: only the metadata of an object. */
export class MetadataOnly implements Representation {
  readonly name: string;
  readonly listKind: Representation['listKind'];
  readonly listOpening = ',"items":[';
  readonly #opening: Buffer;
  readonly #places = placesFor(1);

  constructor(name: string, version: string) {
    this.name = name;
    this.listKind = { apiVersion: `meta.k8s.io/${version}`, kind: 'PartialObjectMetadataList' };
    this.#opening = Buffer.from(partialOpening(version));
  }

  items(objects: Uint8Array): Shown {
    const writer = new ByteWriter(objects.length / 2);
    for (let at = 0; at < objects.length; at += 1) {
      if (at > 0) writer.all(comma);
      at = this.#write(objects, at, writer);
    }
    return { bytes: writer.written(), until: Infinity };
  }

  object(object: Uint8Array): Buffer {
    const writer = new ByteWriter(object.length / 2);
    this.#write(object, 0, writer);
    return writer.written();
  }

  /** Returns the offset after the object. */
  #write(bytes: Uint8Array, at: number, writer: ByteWriter): number {
    const behind = findMembers(bytes, at, wanted, this.#places);
    const [start] = this.#places.starts;
    const [stop] = this.#places.ends;
    writer.all(this.#opening);
    writer.partOr(noMetadata, bytes, start, stop);
    writer.all(end);
    return behind;
  }
}

/** Returns the beginning of a PartialObjectMetadata. The metadata and `}` must follow. */
export function partialOpening(version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
}
