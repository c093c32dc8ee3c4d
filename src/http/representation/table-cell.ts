import { tableCellCharactersMax } from '../../limits/lists.ts';
import type { PrinterColumn } from '../../resource/type/resource-type.ts';
import type { ByteWriter } from './byte-writer.ts';
import { ageOf } from './human-duration.ts';

/** A cell's value in an object's JSON; a start of -1 means that the value is missing. */
export type CellValue = {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
};

const quote = 0x22;
const missing = Buffer.from('null');

/**
 * Writes the cell of a value. As in Kubernetes' custom resources, a value of another type than its column becomes null.
 * A string column shows every value except null as text. Returns the time at which the cell changes, in epoch
 * milliseconds; Infinity if the cell does not change.
 */
export function cellOf(type: PrinterColumn['type'], value: CellValue, writer: ByteWriter, now: number): number {
  const { bytes, start, end } = value;
  const kind = start === -1 ? 'null' : kindOf(bytes[start]);
  if (type === 'date' && kind === 'string') return writeAge(value, writer, now);
  if (type === 'string' && kind !== 'null') writeText(value, kind, writer);
  else if (type === 'integer' && kind === 'number') writeInteger(value, writer);
  else if (type !== 'string' && type === kind) writer.part(bytes, start, end);
  else writer.all(missing);
  return Infinity;
}

/** The first byte of a JSON value determines its kind. */
function kindOf(byte: number | undefined): 'string' | 'number' | 'boolean' | 'null' | 'other' {
  switch (byte) {
    case quote:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    case 0x7b:
    case 0x5b:
      return 'other';
    default:
      return 'number';
  }
}

function writeText({ bytes, start, end }: CellValue, kind: ReturnType<typeof kindOf>, writer: ByteWriter): void {
  const isString = kind === 'string';
  if (isString && end - start - 2 <= tableCellCharactersMax) {
    writer.part(bytes, start, end);
    return;
  }
  const text = isString ? stringOf(bytes, start, end) : utf8(bytes, start, Math.min(end, start + cutBytes));
  writer.text(JSON.stringify(cut(text)));
}

/** The number of bytes to decode for a shortened text. A character has at most four bytes. */
const cutBytes = 4 * (tableCellCharactersMax + 1);

function cut(text: string): string {
  if (text.length <= tableCellCharactersMax) return text;
  // Avoids a cut between the halves of a surrogate pair.
  const last = text.charCodeAt(tableCellCharactersMax - 2);
  const length = tableCellCharactersMax - (last >= 0xd800 && last < 0xdc00 ? 2 : 1);
  return `${text.slice(0, length)}…`;
}

/** Writes a number as an integer. As in Kubernetes, a fraction is cut off. */
function writeInteger({ bytes, start, end }: CellValue, writer: ByteWriter): void {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if ((byte >= 0x30 && byte <= 0x39) || (byte === 0x2d && at === start)) continue;
    writer.text(JSON.stringify(Math.trunc(Number(utf8(bytes, start, end)))));
    return;
  }
  writer.part(bytes, start, end);
}

function writeAge({ bytes, start, end }: CellValue, writer: ByteWriter, now: number): number {
  const { text, until } = ageOf(end - start > 128 ? 'no timestamp' : stringOf(bytes, start, end), now);
  writer.text(`"${text}"`);
  return until;
}

function stringOf(bytes: Uint8Array, start: number, end: number): string {
  return String(JSON.parse(utf8(bytes, start, end)));
}

function utf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start, end);
}
