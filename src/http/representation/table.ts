import type { PrinterColumn, ResourceType } from '../../resource/type/resource-type.ts';
import { ByteWriter } from './byte-writer.ts';
import { findMembers, placesFor, wantedMembers, type WantedMembers } from './json-places.ts';
import { noMetadata, partialOpening } from './metadata-only.ts';
import type { IncludedObject } from './negotiate.ts';
import type { Representation, Shown } from './representation.ts';
import { cellOf, type CellValue } from './table-cell.ts';

type Column = PrinterColumn;

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  pointer: '/metadata/name',
  description: 'The name of the object, unique among those of its type.',
};
const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  pointer: '/metadata/creationTimestamp',
  description: 'The time since the object was created.',
};

/**
 * Returns the columns of a type's table: the name, the declared columns, and the age unless a declared column is named
 * Age.
 */
export function columnsOf({ printerColumns }: ResourceType): readonly Column[] {
  const hasAge = printerColumns.some(({ name }) => name.toLowerCase() === 'age');
  return [nameColumn, ...printerColumns, ...(hasAge ? [] : [ageColumn])];
}

const comma = Buffer.from(',');
const rowOpening = Buffer.from('{"cells":[');
const rowObject = Buffer.from('],"object":');
const none = Buffer.from('null');
const rowEnd = Buffer.from('}');
/** Replaces a missing resourceVersion. */
const noVersion = Buffer.from('""');
const partialRowEnd = Buffer.from('}}');

type TableOptions = {
  readonly version: string;
  readonly include: IncludedObject;
};

/** Kubernetes' Table: a row for each object, with a cell for each column. */
export class Table implements Representation {
  readonly name: string;
  readonly listKind: Representation['listKind'];
  readonly listOpening: string;
  readonly #columns: readonly Column[];
  readonly #include: IncludedObject;
  readonly #partialOpening: Buffer;
  /** The columns' pointers in order, then `/metadata` and `/metadata/resourceVersion`. */
  readonly #wanted: WantedMembers;
  readonly #places;
  readonly #metadataPlace: number;

  constructor(name: string, type: ResourceType, { version, include }: TableOptions) {
    this.name = name;
    this.listKind = { apiVersion: `meta.k8s.io/${version}`, kind: 'Table' };
    this.#columns = columnsOf(type);
    const definitions = this.#columns.map(
      ({ name: title, type: kind, format = '', description = '', priority = 0 }) => ({
        name: title,
        type: kind,
        format,
        description,
        priority,
      }),
    );
    this.listOpening = `,"columnDefinitions":${JSON.stringify(definitions)},"rows":[`;
    this.#include = include;
    this.#partialOpening = Buffer.from(partialOpening(version));
    const pointers = this.#columns.map(({ pointer }) => pointer);
    this.#metadataPlace = pointers.length;
    this.#wanted = wantedMembers([...pointers, '/metadata', '/metadata/resourceVersion']);
    this.#places = placesFor(pointers.length + 2);
  }

  items(objects: Uint8Array, now: number): Shown {
    const writer = new ByteWriter(objects.length / 2);
    let until = Infinity;
    for (let at = 0; at < objects.length; at += 1) {
      if (at > 0) writer.all(comma);
      const behind = findMembers(objects, at, this.#wanted, this.#places);
      until = Math.min(until, this.#row({ bytes: objects, start: at, end: behind }, writer, now));
      at = behind;
    }
    return { bytes: writer.written(), until };
  }

  object(object: Uint8Array, now: number): Buffer {
    return this.#one(object, now, this.listOpening);
  }

  laterObject(object: Uint8Array, now: number): Buffer {
    return this.#one(object, now, ',"columnDefinitions":null,"rows":[');
  }

  #one(object: Uint8Array, now: number, opening: string): Buffer {
    const behind = findMembers(object, 0, this.#wanted, this.#places);
    const writer = new ByteWriter(object.length + 1_024);
    const { apiVersion, kind } = this.listKind;
    writer.text(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":`);
    const place = this.#metadataPlace + 1;
    writer.partOr(noVersion, object, this.#places.starts[place], this.#places.ends[place]);
    writer.text(`}${opening}`);
    this.#row({ bytes: object, start: 0, end: behind }, writer, now);
    writer.text(']}');
    return writer.written();
  }

  /**
   * Writes the row of an object whose members `findMembers` has found. Returns the time at which an age in the row
   * changes, in epoch milliseconds.
   */
  #row({ bytes, start, end }: CellValue, writer: ByteWriter, now: number): number {
    const { starts, ends } = this.#places;
    let until = Infinity;
    writer.all(rowOpening);
    for (const [index, column] of this.#columns.entries()) {
      if (index > 0) writer.all(comma);
      const cell = {
        bytes,
        start: starts[index] ?? -1,
        end: ends[index] ?? -1,
      };
      until = Math.min(until, cellOf(column.type, cell, writer, now));
    }
    writer.all(rowObject);
    switch (this.#include) {
      case 'None':
        writer.all(none);
        writer.all(rowEnd);
        break;
      case 'Metadata':
        writer.all(this.#partialOpening);
        writer.partOr(noMetadata, bytes, starts[this.#metadataPlace], ends[this.#metadataPlace]);
        writer.all(partialRowEnd);
        break;
      case 'Object':
        writer.part(bytes, start, end);
        writer.all(rowEnd);
    }
    return until;
  }
}
