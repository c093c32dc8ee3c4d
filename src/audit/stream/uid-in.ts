import type { RecordedEvent } from '../../log/log.ts';

const objectMember = Buffer.from(',"object":{');
const metadataMember = Buffer.from('"metadata":{');
const uidMember = Buffer.from('"uid":"');
const [quote, brace, bracket, backslash] = [0x22, 0x7b, 0x5b, 0x5c];

/**
 * Finds the uid of an event's object without parsing the JSON. This is possible because the platform writes `uid`
 * before any nested object or list of the metadata. Returns undefined for JSON in any other form.
 */
export function uidIn({ data }: RecordedEvent): string | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const object = bytes.indexOf(objectMember);
  const metadata = object === -1 ? -1 : bytes.indexOf(metadataMember, object);
  const at = metadata === -1 ? -1 : bytes.indexOf(uidMember, metadata);
  if (at === -1) return undefined;
  const before = bytes.subarray(metadata + metadataMember.length, at);
  const start = at + uidMember.length;
  const uid = bytes.subarray(start, bytes.indexOf(quote, start));
  const isPlain = [brace, bracket, backslash].every((sign) => !before.includes(sign)) && !uid.includes(backslash);
  return isPlain ? uid.toString('utf8') : undefined;
}
