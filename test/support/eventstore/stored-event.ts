import { BackwardWriter, memberOf, membersOf } from './protobuf.ts';

/** An event that a client appends. `data` and `metadata` are views of its request. */
export type Proposed = {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** An event in the log. Its bytes exist only in `response`, in the form in which the server sends them. */
export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  /** A tombstone has the largest possible revision. */
  readonly revision: number;
  /** The commit position, which equals the prepare position for such events. */
  readonly position: number;
  /** The position of the next record. */
  readonly end: number;
  /** Milliseconds since 1970, for `$maxAge`. */
  readonly createdMs: number;
  /** The whole ReadResp message with this event. */
  readonly response: Buffer;
};

export const tombstoneRevision = Number.MAX_SAFE_INTEGER;
const largestRevision = 9_223_372_036_854_775_807n;
const ticksAMillisecond = 10_000n;

/** The approximate size of the record in a real log: a fixed part and the parts of variable length. */
export function recordSize(stream: string, { type, data, metadata }: Proposed): number {
  return 79 + Buffer.byteLength(stream) + Buffer.byteLength(type) + data.length + metadata.length;
}

export type Place = {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly createdMs: number;
};

export function storedEvent(event: Proposed, place: Place): StoredEvent {
  const { id, type } = event;
  const { stream, revision, position, createdMs } = place;
  return {
    id,
    type,
    stream,
    revision,
    position,
    end: position + recordSize(stream, event),
    createdMs,
    response: encode(event, place),
  };
}

function encode(event: Proposed, { stream, revision, position, createdMs }: Place): Buffer {
  const writer = new BackwardWriter(
    event.data.length + event.metadata.length + stream.length * 3 + event.type.length * 3 + 220,
  );
  writer.number(3, position);
  // Only the commit position lies outside the recorded event.
  const outside = writer.written;
  if (event.data.length > 0) writer.bytes(8, event.data);
  if (event.metadata.length > 0) writer.bytes(7, event.metadata);
  const pair = (key: string, value: string): void => {
    const mark = writer.written;
    writer.text(2, value);
    writer.text(1, key);
    writer.enclose(6, mark);
  };
  pair('content-type', event.isJson ? 'application/json' : 'application/octet-stream');
  pair('created', (BigInt(createdMs) * ticksAMillisecond).toString());
  pair('type', event.type);
  writer.number(5, position);
  writer.number(4, position);
  writer.number(3, revision === tombstoneRevision ? largestRevision : revision);
  const name = writer.written;
  writer.text(3, stream);
  writer.enclose(2, name);
  const id = writer.written;
  writer.text(2, event.id);
  writer.enclose(1, id);
  writer.enclose(1, outside);
  writer.enclose(1, 0);
  return writer.finish();
}

/** Decodes the event of a ReadResp that `encode` has written. */
export function decodeStored(response: Buffer): StoredEvent & { readonly proposed: Proposed } {
  const recorded = memberOf(memberOf(response, 1) ?? Buffer.alloc(0), 1) ?? Buffer.alloc(0);
  let [id, stream, revision, position] = ['', '', 0, 0];
  let data: Buffer = Buffer.alloc(0);
  let metadata = data;
  const pairs = new Map<string, string>();
  for (const { field, number, bytes } of membersOf(recorded)) {
    if (field === 1) id = (memberOf(bytes, 2) ?? bytes).toString();
    else if (field === 2) stream = (memberOf(bytes, 3) ?? bytes).toString();
    else if (field === 3) revision = number === largestRevision ? tombstoneRevision : Number(number);
    else if (field === 5) position = Number(number);
    else if (field === 6)
      pairs.set((memberOf(bytes, 1) ?? bytes).toString(), (memberOf(bytes, 2) ?? Buffer.alloc(0)).toString());
    else if (field === 7) metadata = bytes;
    else if (field === 8) data = bytes;
  }
  const type = pairs.get('type') ?? '';
  const proposed = { id, type, isJson: pairs.get('content-type') === 'application/json', data, metadata };
  const createdMs = Number(BigInt(pairs.get('created') ?? '0') / ticksAMillisecond);
  return {
    id,
    type,
    stream,
    revision,
    position,
    end: position + recordSize(stream, proposed),
    createdMs,
    response,
    proposed,
  };
}
