import {
  epochShift,
  logPosition,
  streamRevision,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
  type StreamRevision,
} from '../../src/log/log.ts';
import { sha256 } from '../../src/audit/proof/merkle.ts';
import { MissingRevisionError, type VersionReader } from '../../src/read/versions.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { AuditEnvironment, AuditPart, Table } from './audit-part.ts';
import { lastThat } from './last-that.ts';
import { countUpTo, endOf, extended, firstIn, numberAt } from './position-block.ts';

/** The number of revisions in a full block. */
const blockLength = 256;
const shortKeyBytes = 8;
const prefix = 'object:';
const empty = new Uint8Array();

type Blocks = Table<Buffer, Uint8Array>;
/** lmdb's types omit the result: true if the entry was written. */
type CreatingTable = { putSync(key: Uint8Array, value: Buffer, options: { readonly noOverwrite: true }): unknown };
/** Consecutive events of one stream: the first revision, and the position of each event within the epoch. */
type Run = {
  readonly first: number;
  readonly positions: number[];
};

/** The estimated bytes of a stream's first position in the open batch, without the stream's name. */
const runBytes = 256;
/** The estimated bytes of each further position of a stream. */
const runPositionBytes = 16;

type VersionPartOptions = {
  readonly identity: () => Pick<LogIdentity, 'epoch'>;
  /** Returns 32 bytes that identify a stream; SHA-256 by default. */
  readonly digest?: (stream: string) => Buffer;
};

/**
 * The version index: the positions of each object's events, in blocks of 256 revisions (`position-block.ts`). The keys
 * of a stream's blocks begin with the first eight bytes of the stream's digest. If an earlier stream has the same eight
 * bytes, the keys begin with the whole digest instead.
 */
export class VersionPart implements AuditPart, VersionReader {
  readonly name = 'versions';
  readonly format = 1;
  readonly #identity: VersionPartOptions['identity'];
  readonly #digest: (stream: string) => Buffer;
  #blocks!: Blocks;
  /** The blocks of the streams with a whole digest as the key. */
  #clashing!: Blocks;
  /** The first eight bytes of the digests in `#clashing`, in hexadecimal digits. */
  readonly #clashes = new Set<string>();
  readonly #newClashes = new Set<string>();
  /** The events of the open batch, by stream. */
  readonly #runs = new Map<string, Run>();

  constructor({ identity, digest = sha256 }: VersionPartOptions) {
    this.#identity = identity;
    this.#digest = digest;
  }

  open(environment: AuditEnvironment): void {
    this.#blocks = environment.openBinaryTable<Buffer>('blocks', { encoding: 'binary' });
    this.#clashing = environment.openBinaryTable<Buffer>('clashing', { encoding: 'binary' });
    for (const key of this.#clashing.getKeys()) this.#clashes.add(shortTextOf(key));
  }

  add({ stream, revision }: RecordedEvent, within: number): number {
    if (!stream.startsWith(prefix)) return 0;
    const run = this.#runs.get(stream);
    if (run === undefined) {
      this.#runs.set(stream, { first: revision, positions: [within] });
      return runBytes + 2 * stream.length;
    }
    if (revision !== run.first + run.positions.length) throw new MissingRevisionError(stream, revision);
    run.positions.push(within);
    return runPositionBytes;
  }

  write(): void {
    for (const [stream, run] of this.#runs) this.#append(stream, run);
    this.#runs.clear();
  }

  committed(): void {
    this.#newClashes.clear();
  }

  rolledBack(): void {
    this.#runs.clear();
    for (const clash of this.#newClashes) this.#clashes.delete(clash);
    this.#newClashes.clear();
  }

  cleared(): void {
    this.#runs.clear();
    this.#clashes.clear();
    this.#newClashes.clear();
  }

  lastAt(type: TypeKey, name: string, position: LogPosition): StreamRevision | undefined {
    const limit = Number(position - epochShift(this.#identity().epoch));
    const key = this.#keyOf(`${prefix}${type}/${name}`);
    const number = lastThat((one) => {
      const block = key.block(one);
      return block !== undefined && firstIn(block) <= limit;
    });
    const block = number === undefined ? undefined : key.block(number);
    if (number === undefined || block === undefined) return undefined;
    return streamRevision(number * blockLength + countUpTo(block, limit) - 1);
  }

  positionOf(type: TypeKey, name: string, revision: StreamRevision): LogPosition | undefined {
    const block = this.#keyOf(`${prefix}${type}/${name}`).block(Math.floor(revision / blockLength));
    const local = block === undefined ? undefined : numberAt(block, revision % blockLength);
    return local === undefined ? undefined : logPosition(BigInt(local) + epochShift(this.#identity().epoch));
  }

  #append(stream: string, { first, positions }: Run): void {
    const begun = first === 0 ? positions.slice(0, blockLength) : [];
    const key = first === 0 ? this.#begin(stream, begun) : this.#keyOf(stream);
    for (let done = begun.length; done < positions.length;) {
      const revision = first + done;
      const number = Math.floor(revision / blockLength);
      const block = key.block(number) ?? empty;
      const end = endOf(block);
      if (end.count !== revision % blockLength) throw new MissingRevisionError(stream, revision);
      const added = positions.slice(done, done + blockLength - end.count);
      key.put(number, extended(block, end, added));
      done += added.length;
    }
  }

  /** Writes the first block of a new stream. The key is the whole digest if another stream has the same short key. */
  #begin(stream: string, positions: readonly number[]): BlockKey {
    const digest = this.#digest(stream);
    const block = extended(empty, endOf(empty), positions);
    const short = new BlockKey(this.#blocks, digest.subarray(0, shortKeyBytes));
    if (short.create(block)) return short;
    const whole = new BlockKey(this.#clashing, digest);
    if (!whole.create(block)) throw new Error(`the first revision of ${stream} is already indexed`);
    const clash = shortTextOf(digest);
    if (!this.#clashes.has(clash)) this.#newClashes.add(clash);
    this.#clashes.add(clash);
    return whole;
  }

  #keyOf(stream: string): BlockKey {
    const digest = this.#digest(stream);
    if (this.#clashes.size > 0 && this.#clashes.has(shortTextOf(digest))) {
      const whole = new BlockKey(this.#clashing, digest);
      if (whole.block(0) !== undefined) return whole;
    }
    return new BlockKey(this.#blocks, digest.subarray(0, shortKeyBytes));
  }
}

class BlockKey {
  readonly #table: Blocks;
  readonly #stream: Uint8Array;

  constructor(table: Blocks, stream: Uint8Array) {
    this.#table = table;
    this.#stream = stream;
  }

  /** The bytes of a block, valid until the next read of a table; undefined if the block does not exist. */
  block(number: number): Uint8Array | undefined {
    const bytes = this.#table.getBinaryFast(this.#of(number));
    // lmdb returns a larger buffer, and sets the buffer's `length` to the length of the value.
    return bytes?.subarray(0, bytes.length);
  }

  /** Writes the first block. Returns false, without a write, if the first block exists. */
  create(block: Buffer): boolean {
    const table: CreatingTable = this.#table;
    return table.putSync(this.#of(0), block, { noOverwrite: true }) === true;
  }

  put(number: number, block: Buffer): void {
    this.#table.putSync(this.#of(number), block);
  }

  #of(number: number): Uint8Array {
    if (number === 0) return this.#stream;
    const key = Buffer.allocUnsafe(this.#stream.length + 4);
    key.set(this.#stream);
    key.writeUInt32BE(number, this.#stream.length);
    return key;
  }
}

function shortTextOf(digest: Uint8Array): string {
  return Buffer.from(digest.subarray(0, shortKeyBytes)).toString('hex');
}
