import { open, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import type { StoredEvent } from './stored-event.ts';
import { decodeStored } from './stored-event.ts';

/** The storage that survives the server's process: the flushed appends. */
export type EventDisk = {
  /** Returns the events of all complete appends. */
  readonly load: () => Promise<readonly StoredEvent[]>;
  /** Resolves when the appends would survive the end of the process. */
  readonly flush: (appends: readonly (readonly StoredEvent[])[]) => Promise<void>;
  /** Deletes the events at these positions. No flush may be running. */
  readonly drop: (positions: ReadonlySet<number>) => Promise<void>;
  /** Deletes all events, so that the next server starts with an empty database. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** A disk in memory: its events survive a restart of the server, but not the end of the process. */
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
      // A killed server's unfinished flush is lost: the next server has already read the disk without it.
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

/** The header of each append: the length of its events and their checksum, four bytes each. */
const headBytes = 8;

/** A disk in a file that only grows. Appends that arrive during a flush share the next flush. */
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

/** Reads the file, and cuts off an incomplete append at its end, which the server had not acknowledged. */
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
