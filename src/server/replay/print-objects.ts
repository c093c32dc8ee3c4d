import type { TablesSnapshot } from '../../../projections/lmdb-view.ts';
import { decodeRow } from '../../../projections/row.ts';
import { replayPieceBytesMax } from '../../limits/replay.ts';
import type { Selected } from '../../read/replay.ts';
import type { ReplayMessage } from './replay-task.ts';

export type PrintPorts = {
  readonly send: (message: ReplayMessage) => Promise<void>;
  /** Called at intervals with the number of read objects. May throw to end the work. */
  readonly onRead: (objects: number) => void;
};

const opening = Buffer.from('{"kind":"Object","object":');
const closing = Buffer.from('}\n');

/** Sends the selected objects in the order of type and name, one line each. */
export async function printObjects(snapshot: TablesSnapshot, selected: Selected, ports: PrintPorts): Promise<void> {
  const pieces = new Pieces(ports);
  let read = 0;
  for (const { key, value } of snapshot.entries('rows', firstKey(selected))) {
    const found = placeOf(key);
    if (!isSelected(found, selected)) break;
    read += 1;
    if (read % objectsPerReport === 0) ports.onRead(read);
    await pieces.add(found.type, Buffer.concat([opening, decodeRow(value).answer, closing]));
  }
  await pieces.flush();
}

/** The number of objects after which the progress is reported. */
export const objectsPerReport = 1_024;

/** The key of the first selected object; undefined for the beginning of the table. */
export function firstKey({ type, name = '' }: Selected): string | undefined {
  return type === undefined ? undefined : `${type}/${name}`;
}

export type Place = {
  readonly type: string;
  readonly name: string;
};

export function placeOf(key: string): Place {
  const slash = key.indexOf('/');
  return { type: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Returns whether the object is selected. Selected objects are contiguous from the first key on. */
export function isSelected(place: Place, { type = place.type, name = place.name }: Selected): boolean {
  return place.type === type && place.name === name;
}

/** Collects lines into pieces of one type each, because the right to read an object depends on its type. */
export class Pieces {
  readonly #ports: Pick<PrintPorts, 'send'>;
  #type = '';
  #lines: Buffer[] = [];
  #bytes = 0;

  constructor(ports: Pick<PrintPorts, 'send'>) {
    this.#ports = ports;
  }

  async add(type: string, line: Buffer): Promise<void> {
    if (type !== this.#type || this.#bytes >= replayPieceBytesMax) await this.flush();
    this.#type = type;
    this.#lines.push(line);
    this.#bytes += line.length;
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    await this.#ports.send({
      kind: 'lines',
      type: this.#type,
      bytes: Buffer.concat(this.#lines),
    });
    this.#lines = [];
    this.#bytes = 0;
  }
}
