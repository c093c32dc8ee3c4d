import type { Pace } from '../../audit/object-history.ts';
import { Slices } from '../../base/slices.ts';
import { listJoinedBytesMax } from '../../limits/lists.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import { bytesAnswer, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { readerOf } from '../resources/collection.ts';
import type { ResourceReader } from '../resources/item.ts';

/** Readers of the log take turns with those of lists, by user. With a signal, its abort rejects the next turn. */
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

/**
 * A page of entries, each as JSON. `envelope`: the JSON of the other members. A large page is sent at its reader's
 * speed, which holds the slot: many slow readers must not hold many pages.
 */
export function entryPage(
  { envelope, opening = ',"items":[' }: { readonly envelope: string; readonly opening?: string },
  entries: readonly Uint8Array[],
  place: SnapshotSlot,
): Answer {
  const parts: Uint8Array[] = [Buffer.from(`${envelope.slice(0, -1)}${opening}`)];
  for (const [index, entry] of entries.entries()) parts.push(...(index === 0 ? [] : [comma]), entry);
  const bytes = Buffer.concat([...parts, Buffer.from(']}')]);
  if (bytes.length > listJoinedBytesMax) return { kind: 'stream', chunks: onceRead(bytes, place), place };
  return bytesAnswer(bytes);
}

const comma = Buffer.from(',');

/** Its end, or its abandonment, releases the slot. */
async function* onceRead(bytes: Buffer, place: SnapshotSlot): AsyncGenerator<Uint8Array> {
  try {
    yield await Promise.resolve(bytes);
  } finally {
    place.release();
  }
}
