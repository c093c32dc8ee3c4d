import type { Pace } from '../../audit/object-history.ts';
import { Slices } from '../../base/slices.ts';
import { listJoinedBytesMax } from '../../limits/lists.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import { bytesAnswer, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { readerOf } from '../resources/collection.ts';
import type { ResourceReader } from '../resources/item.ts';

/**
 * Returns the pace of a read of the log. `next` waits until the read may use the event loop again, and rejects after a
 * disconnect. Reads of the log and of lists take turns by user.
 */
export function paceOf(
  exchange: Exchange,
  { snapshots }: Pick<ResourceReader, 'snapshots'>,
  disconnected?: AbortSignal,
): Pace {
  const slices = new Slices(exchange.clock);
  return {
    isOver: () => slices.isOver(),
    next: async () => {
      await slices.next();
      await snapshots.turn(readerOf(exchange));
      disconnected?.throwIfAborted();
    },
  };
}

type PageFrame = {
  readonly envelope: string;
  readonly opening?: string;
};

/**
 * Returns a page of JSON entries. `envelope` is a JSON object with the other members of the page. `opening` is the text
 * between these members and the first entry. A large page holds its slot until the client has read the page.
 */
export function entryPage(
  { envelope, opening = ',"items":[' }: PageFrame,
  entries: readonly Uint8Array[],
  slot: SnapshotSlot,
): Answer {
  const parts: Uint8Array[] = [Buffer.from(`${envelope.slice(0, -1)}${opening}`)];
  for (const [index, entry] of entries.entries()) parts.push(...(index === 0 ? [] : [comma]), entry);
  const bytes = Buffer.concat([...parts, Buffer.from(']}')]);
  if (bytes.length > listJoinedBytesMax) return { kind: 'stream', chunks: onceRead(bytes, slot), slot };
  return bytesAnswer(bytes);
}

const comma = Buffer.from(',');

/** Yields the bytes once. The slot is released when the reader continues or stops. */
async function* onceRead(bytes: Buffer, slot: SnapshotSlot): AsyncGenerator<Uint8Array> {
  try {
    yield await Promise.resolve(bytes);
  } finally {
    slot.release();
  }
}
