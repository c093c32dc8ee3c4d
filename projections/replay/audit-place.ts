import { hash } from 'node:crypto';

import type { RecordedEvent } from '../../src/log/log.ts';
import type { Difference } from '../../src/read/replay.ts';
import { rowEntries, rowPlace } from '../audit/tree/tree-rows.ts';
import { VarintReader } from '../audit/varint.ts';
import type { DifferentEntry } from './compare-audit.ts';
import { firstDifferentByte } from './differing-bytes.ts';

/** Returns the event at a position within the epoch; undefined without an event at the position. */
type EventAt = (within: number) => Promise<RecordedEvent | undefined>;

type Place = Pick<Difference, 'table' | 'key'>;

/** Describes the place of a differing entry of the audit tables by an event, an object or a leaf of the tree. */
export async function differenceAt(entry: DifferentEntry, eventAt: EventAt): Promise<Difference> {
  return { ...(await placeOf(entry, eventAt)), detail: entry.detail };
}

async function placeOf(entry: DifferentEntry, eventAt: EventAt): Promise<Place> {
  const { table, key } = entry;
  switch (table) {
    case 'tree:rows':
      return { table: 'tree', key: await treePlace(entry, eventAt) };
    case 'tree:range':
      return { table: 'tree', key: 'the nodes of the root' };
    case 'tree:heads':
      return { table: 'tree', key: 'the last tree head' };
    case 'versions:blocks':
    case 'versions:clashing':
      return { table: 'versions', key: await versionPlace(entry, eventAt) };
    case 'times:blocks':
      return { table: 'times', key: timePlace(entry) };
    case 'times:firsts':
      return { table: 'times', key: 'the first event' };
    case 'events:tails':
      return { table: 'events', key: `${termText(String(key))}, the last positions` };
    case 'events:blocks':
      return { table: 'events', key: blockText(bytesOf(entry)) };
    default:
      return { table, key: keyText(entry) };
  }
}

/**
 * Names the leaf or node with the first different byte. If only one side has the row, names the first leaf or node of
 * the row.
 */
async function treePlace(entry: DifferentEntry, eventAt: EventAt): Promise<string> {
  const { key, live, replayed } = entry;
  const { level, row, width } = rowPlace(Number(key));
  const first = row * rowEntries;
  if (live === undefined || replayed === undefined)
    return `${level === 0 ? 'leaves' : `nodes of level ${String(level)}`} from ${String(first)} on`;
  const offset = Math.floor(firstDifferentByte(live, replayed) / width);
  const index = first + offset;
  if (level > 0) return `node ${String(index)} of level ${String(level)}`;
  const end = (offset + 1) * width;
  if (end > replayed.length) return `leaf ${String(index)}`;
  const event = await eventAt(Number(replayed.readBigUInt64BE(end - 8)));
  return event === undefined ? `leaf ${String(index)}` : `leaf ${String(index)} (${eventText(event)})`;
}

function eventText({ type, stream, revision, position }: RecordedEvent): string {
  return `${type} of ${stream}, revision ${String(revision)}, position ${position.toString()}`;
}

/**
 * Names the object of a block. The key of the block has only a digest of the object's stream, so the name is read from
 * the event at the first position of the block.
 */
async function versionPlace(entry: DifferentEntry, eventAt: EventAt): Promise<string> {
  const { table } = entry;
  const key = Buffer.from(bytesOf(entry));
  const digestBytes = table === 'versions:clashing' ? 32 : 8;
  const digest = key.subarray(0, digestBytes);
  const first = key.length > digestBytes ? key.readUInt32BE(digestBytes) * 256 : 0;
  for (const block of [entry.replayed, entry.live]) {
    const event = block === undefined || block.length === 0 ? undefined : await eventAt(firstNumber(block));
    if (event === undefined || !hash('sha256', event.stream, 'buffer').subarray(0, digestBytes).equals(digest))
      continue;
    return `${event.stream.slice(event.stream.indexOf(':') + 1)}, revisions from ${String(first)} on`;
  }
  return `the stream with the digest ${digest.toString('hex')}, revisions from ${String(first)} on`;
}

function firstNumber(bytes: Uint8Array): number {
  try {
    return new VarintReader(bytes).next();
  } catch {
    return 0;
  }
}

function timePlace({ live, replayed }: DifferentEntry): string {
  const block = replayed ?? live;
  const timeMs = block === undefined || block.length === 0 ? 0 : firstNumber(block);
  const isTime = timeMs <= 8.64e15;
  return `times from ${isTime ? new Date(timeMs).toISOString() : 'an invalid time'} on`;
}

function blockText(key: Uint8Array): string {
  const bytes = Buffer.from(key);
  const end = bytes.indexOf(0);
  if (end === -1 || bytes.length < end + 9) return `an unknown entry ${bytes.toString('hex')}`;
  const first = bytes.readUInt32BE(end + 1) * 2 ** 32 + bytes.readUInt32BE(end + 5);
  return `${termText(bytes.toString('utf8', 0, end))}, positions of the epoch from ${String(first)} on`;
}

const fields: Readonly<Record<string, string>> = {
  t: 'type',
  c: 'category',
  n: 'name',
  a: 'actor',
  o: 'onBehalfOf',
};

function termText(term: string): string {
  return `${fields[term.slice(0, 1)] ?? 'term'} ${term.slice(1)}`;
}

function bytesOf({ key }: DifferentEntry): Uint8Array {
  return key instanceof Uint8Array ? key : Buffer.from(String(key));
}

function keyText({ key }: DifferentEntry): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('hex') : String(key);
}
