import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { categoryTest } from '../../src/log/category-test.ts';
import { stampOf } from '../../src/log/event-codec.ts';
import { epochShift, logPosition, type LogIdentity, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { LogTimes } from '../../src/read/versions.ts';
import { foldedCategories } from '../fold-event.ts';
import type { AuditEnvironment, AuditPart, Table } from './audit-part.ts';
import { lastThat } from './last-that.ts';
import { VarintReader, varintBytesMax, writeVarint } from './varint.ts';

/** The number of entries in a full block. */
const blockLength = 256;

/** Ascending times in epoch milliseconds, and for each time the position of its event within the epoch. */
type Entries = {
  readonly times: number[];
  readonly positions: number[];
};
type OpenBlock = Entries & { readonly number: number };

/** The estimated bytes of a time and a position in memory. */
const addedBytes = 32;

/**
 * The time index: ascending times of events, with the events' positions. An entry with a time over a minute later than
 * a subsequent event comes from a wrong clock, and is removed (docs/spec/consistency.md, 8). `replay/log-times.ts` has
 * the same rule.
 */
export class TimePart implements AuditPart, LogTimes {
  readonly name = 'times';
  readonly format = 1;
  readonly #identity: () => Pick<LogIdentity, 'epoch'>;
  readonly #counts = categoryTest(foldedCategories);
  #blocks!: Table<Buffer, number>;
  /** A table with one entry: key 0 has the position of the first folded event. */
  #firsts!: Table<Buffer, number>;
  /** The last block; undefined until `#opened` reads the block from the table. */
  #open: OpenBlock | undefined;
  /** The open batch. Of consecutive events with the same time, only the first is added. */
  #added: Entries = { times: [], positions: [] };
  #lastStamp = '';
  /** The minute of the last parsed time, cached because most events have the minute of the previous event. */
  #minute = { text: noMinute, ms: NaN };

  constructor(identity: () => Pick<LogIdentity, 'epoch'>) {
    this.#identity = identity;
  }

  open(environment: AuditEnvironment): void {
    this.#blocks = environment.openNumberedTable<Buffer>('blocks', { encoding: 'binary' });
    this.#firsts = environment.openNumberedTable<Buffer>('firsts', { encoding: 'binary' });
  }

  add(recorded: RecordedEvent, within: number): number {
    if (!this.#counts(recorded.stream)) return 0;
    const stamp = stampOf(recorded);
    if (stamp === this.#lastStamp) return 0;
    this.#lastStamp = stamp;
    this.#added.times.push(this.#parse(stamp));
    this.#added.positions.push(within);
    return addedBytes;
  }

  write(): void {
    const { times, positions } = this.#added;
    let isChanged = false;
    for (const [index, time] of times.entries()) isChanged = this.#take(time, positions[index] ?? 0) || isChanged;
    if (isChanged) this.#store();
    this.#forget();
  }

  committed(): void {
    // `write` has already changed the memory of this part.
  }

  rolledBack(): void {
    this.#open = undefined;
    this.#forget();
  }

  cleared(): void {
    this.#open = undefined;
    this.#forget();
  }

  /** The time of a stamp like `2026-01-01T00:00:00.000Z` in epoch milliseconds. */
  #parse(stamp: string): number {
    const { text, ms } = this.#minute;
    const inMinute = stamp.startsWith(text) ? millisecondsIn(stamp) : NaN;
    if (!Number.isNaN(inMinute)) return ms + inMinute;
    const minute = stamp.slice(0, minuteLength);
    const minuteMs = Date.parse(`${minute}00.000Z`);
    const isUsual = !Number.isNaN(minuteMs) && new Date(minuteMs).toISOString().startsWith(minute);
    this.#minute = { text: isUsual ? minute : noMinute, ms: minuteMs };
    return Date.parse(stamp);
  }

  #forget(): void {
    [this.#added, this.#lastStamp] = [{ times: [], positions: [] }, ''];
  }

  positionAt(timeMs: number, head: LogPosition): LogPosition | undefined {
    const number = lastThat((one) => {
      const block = this.#blocks.get(one);
      return block !== undefined && firstTime(block) <= timeMs;
    });
    const { times, positions } = this.#read(number ?? 0);
    const next = positions[times.findIndex((time) => time > timeMs)] ?? this.#read((number ?? 0) + 1).positions[0];
    const before = next === undefined ? head : this.#position(next - 1);
    const first = this.first();
    if (first === undefined || before < first) return undefined;
    return before < head ? before : head;
  }

  timeAt(position: LogPosition): number | undefined {
    const within = Number(position - epochShift(this.#identity().epoch));
    const number = lastThat((one) => {
      const block = this.#blocks.get(one);
      return block !== undefined && firstPosition(block) <= within;
    });
    if (number === undefined) return undefined;
    const { times, positions } = this.#read(number);
    return times[positions.findLastIndex((each) => each <= within)];
  }

  first(): LogPosition | undefined {
    const first = this.#firsts.get(0);
    return first === undefined ? undefined : this.#position(new VarintReader(first).next());
  }

  #position(local: number): LogPosition {
    return logPosition(BigInt(local) + epochShift(this.#identity().epoch));
  }

  #take(timeMs: number, position: number): boolean {
    let open = this.#opened();
    let isChanged = false;
    while ((open.times.at(-1) ?? 0) > timeMs + clockDifferenceMsMax) {
      open.times.pop();
      open.positions.pop();
      isChanged = true;
      if (open.times.length === 0 && open.number > 0) {
        this.#blocks.removeSync(open.number);
        open = this.#opened(open.number - 1);
      }
    }
    if (timeMs > (open.times.at(-1) ?? -1)) {
      if (open.times.length === blockLength) {
        this.#store();
        open = this.#opened(open.number + 1);
      }
      if (open.times.length === 0 && open.number === 0) this.#putFirst(position);
      open.times.push(timeMs);
      open.positions.push(position);
      isChanged = true;
    }
    return isChanged;
  }

  #putFirst(position: number): void {
    if (this.#firsts.get(0) !== undefined) return;
    const bytes = Buffer.allocUnsafe(varintBytesMax);
    this.#firsts.putSync(0, bytes.subarray(0, writeVarint(bytes, 0, position)));
  }

  #store(): void {
    const open = this.#opened();
    this.#blocks.putSync(open.number, encoded(open));
  }

  #opened(number?: number): OpenBlock {
    if (number === undefined && this.#open !== undefined) return this.#open;
    const last = number ?? [...this.#blocks.getKeys({ reverse: true, limit: 1 })][0] ?? 0;
    this.#open = { number: last, ...this.#read(last) };
    return this.#open;
  }

  #read(number: number): Entries {
    return decoded(this.#blocks.get(number));
  }
}

/** The length of a stamp before the digits of the seconds. */
const minuteLength = '2026-01-01T00:00:'.length;
/** No stamp begins with `noMinute`. */
const noMinute = '-';
const zero = 0x30;

/** The seconds and milliseconds at the end of a stamp, in milliseconds; NaN if the stamp has another format. */
function millisecondsIn(stamp: string): number {
  const digit = (at: number, most = 9): number => {
    const value = stamp.charCodeAt(minuteLength + at) - zero;
    return value >= 0 && value <= most ? value : NaN;
  };
  const isComplete = stamp.length === minuteLength + 7 && stamp[minuteLength + 2] === '.' && stamp.endsWith('Z');
  if (!isComplete) return NaN;
  return digit(0, 5) * 10_000 + digit(1) * 1_000 + digit(3) * 100 + digit(4) * 10 + digit(5);
}

function encoded({ times, positions }: Entries): Buffer {
  const bytes = Buffer.allocUnsafe(times.length * varintBytesMax * 2);
  let [at, lastTime, lastPosition] = [0, 0, 0];
  for (const [index, time] of times.entries()) {
    const position = positions[index] ?? 0;
    at = writeVarint(bytes, at, time - lastTime);
    at = writeVarint(bytes, at, position - lastPosition);
    [lastTime, lastPosition] = [time, position];
  }
  return bytes.subarray(0, at);
}

/** The first time in a block; Infinity for an empty block. */
function firstTime(block: Uint8Array): number {
  return block.length === 0 ? Infinity : new VarintReader(block).next();
}

/** The first position in a block; Infinity for an empty block. */
function firstPosition(block: Uint8Array): number {
  const reader = new VarintReader(block);
  if (reader.isAtEnd()) return Infinity;
  reader.next();
  return reader.next();
}

function decoded(block: Uint8Array = new Uint8Array()): Entries {
  const entries: Entries = { times: [], positions: [] };
  const reader = new VarintReader(block);
  for (let [time, position] = [0, 0]; !reader.isAtEnd();) {
    time += reader.next();
    position += reader.next();
    entries.times.push(time);
    entries.positions.push(position);
  }
  return entries;
}
