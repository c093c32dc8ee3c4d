import { open, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import type { StoredEvent } from './stored-event.ts';
import { decodeStored } from './stored-event.ts';

/** What survives the server: the appends that were flushed. */
export type EventDisk = {
  /** Every append that stands, each whole. */
  readonly load: () => Promise<readonly StoredEvent[]>;
  /** Resolves when the appends would survive the end of the process. */
  readonly flush: (appends: readonly (readonly StoredEvent[])[]) => Promise<void>;
  /** Takes away the events at these positions for good. Not while a flush is under way. */
  readonly drop: (positions: ReadonlySet<number>) => Promise<void>;
  /** Empties it, as an operator that starts over. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** In memory: it survives the server's restart, not the process. */
export function memoryDisk(): EventDisk {
  let events: StoredEvent[] = [];
  let loads = 0;
  return {
    load: () => {
      loads += 1;
      return Promise.resolve([...events]);
    },
    flush: async (appends) => {
      const writer = loads;
      await nextTurn();
      // A killed server's flush that was under way is gone with it: its successor has read the disk without it.
      if (writer !== loads) return;
      for (const append of appends) events.push(...append);
    },
    drop: async (positions) => {
      events = events.filter(({ position }) => !positions.has(position));
      await nextTurn();
    },
    clear: async () => {
      events = [];
      await nextTurn();
    },
    close: () => Promise.resolve(),
  };
}

/** Before each append: the length of what follows and its checksum, four bytes each. */
const headBytes = 8;

/** A file that only grows, flushed once for all appends that came while the flush before was under way. */
export async function fileDisk(path: string): Promise<EventDisk> {
  let file = await open(path, 'a+');
  return {
    load: () => load(path),
    flush: async (appends) => {
      await file.appendFile(Buffer.concat(appends.map(frameOf)));
      await file.datasync();
    },
    drop: async (positions) => {
      const kept = (await load(path)).filter(({ position }) => !positions.has(position));
      await writeFile(`${path}.kept`, Buffer.concat(kept.map((event) => frameOf([event]))), { flush: true });
      await rename(`${path}.kept`, path);
      await file.close();
      file = await open(path, 'a+');
    },
    clear: () => file.truncate(0),
    close: () => file.close(),
  };
}

function frameOf(append: readonly StoredEvent[]): Buffer {
  const parts: Buffer[] = [Buffer.alloc(headBytes)];
  for (const { response } of append) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(response.length);
    parts.push(length, response);
  }
  const frame = Buffer.concat(parts);
  frame.writeUInt32LE(frame.length - headBytes, 0);
  frame.writeUInt32LE(crc32(frame.subarray(headBytes)), 4);
  return frame;
}

/** What a crash left unfinished at the end was never acknowledged: it is cut off. */
async function load(path: string): Promise<readonly StoredEvent[]> {
  const bytes = await readFile(path);
  const events: StoredEvent[] = [];
  let at = 0;
  while (at + headBytes <= bytes.length) {
    const end = at + headBytes + bytes.readUInt32LE(at);
    const body = bytes.subarray(at + headBytes, end);
    if (end > bytes.length || crc32(body) !== bytes.readUInt32LE(at + 4)) break;
    for (let from = 0; from < body.length;) {
      const length = body.readUInt32LE(from);
      events.push(decodeStored(body.subarray(from + 4, from + 4 + length)));
      from += 4 + length;
    }
    at = end;
  }
  await truncate(path, at);
  return events;
}
