import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { isLeafStream, leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import {
  hashBytes,
  rangeHash,
  readerOfLevels,
  tileHeight,
  type Hash,
  type Node,
} from '../../../src/audit/proof/merkle.ts';
import type { DomainEvent } from '../../../src/command/event.ts';
import { decodeEvent, stampOf } from '../../../src/log/event-codec.ts';
import { epochShift, logPosition, type LogPosition, type RecordedEvent } from '../../../src/log/log.ts';
import { TreeMismatchError, type RecordedHead, type FoldedTree } from '../../../src/read/folded-tree.ts';
import type { AuditEnvironment, AuditPart, Table } from '../audit-part.ts';
import { KeptNodes } from './kept-nodes.ts';
import { rowHeight, TreeRows } from './tree-rows.ts';

/**
 * The Merkle tree over the events of the log (docs/spec/tree.md). The fold fails if an event states a size and a root
 * that differ from this tree.
 */
export class TreePart implements AuditPart, FoldedTree {
  readonly name = 'tree';
  readonly format = 2;
  readonly #epoch: () => number;
  #tables: Tables | undefined;
  #range = new CompactRange();
  #lastHead: RecordedHead | undefined;
  /** The sizes and roots that events of the open batch state. */
  readonly #stated: StatedRoot[] = [];
  readonly #nodes = new KeptNodes(
    readerOfLevels(rowHeight, (level, first, count) => this.#open.rows.hashes(level, first, count)),
  );

  /** `epoch` returns the epoch of the folded log. */
  constructor(epoch: () => number) {
    this.#epoch = epoch;
  }

  open(environment: AuditEnvironment): void {
    this.#tables = {
      rows: new TreeRows(environment.openNumberedTable<Buffer>('rows', { encoding: 'binary' })),
      range: environment.openTable<Buffer>('range', { encoding: 'binary' }),
      heads: environment.openTable<string>('heads', { encoding: 'string' }),
    };
    this.#load();
  }

  add(recorded: RecordedEvent, within: number): number {
    const { rows } = this.#open;
    const { stream } = recorded;
    let bytes = 0;
    if (isLeafStream(stream)) {
      this.#range.append(leafOf(recorded), ({ level, index }, hash) => {
        if (level % rowHeight === 0) bytes += rows.append(level, index, hash, within);
      });
    }
    if (stream === 'platform:tree' || stream === 'platform:log') bytes += this.#note(recorded);
    return bytes;
  }

  write(): void {
    const { rows, range } = this.#open;
    rows.flush();
    for (const stated of this.#stated.splice(0)) this.#compare(stated);
    range.putSync(rangeKey, encodeRange(this.#range));
  }

  committed(): void {
    // `write` has already changed the state in memory.
  }

  rolledBack(): void {
    this.#stated.length = 0;
    this.#open.rows.forget();
    this.#nodes.clear();
    this.#load();
  }

  cleared(): void {
    this.#stated.length = 0;
    this.#open.rows.forget();
    this.#nodes.clear();
    [this.#range, this.#lastHead] = [new CompactRange(), undefined];
  }

  size(): number {
    return this.#range.until;
  }

  root(size: number): Hash {
    return size === this.size() ? this.#range.root() : rangeHash(0, size, this.nodeHash);
  }

  readonly nodeHash = (node: Node): Hash => this.#nodes.get(node);

  hashes(level: number, first: number, count: number): Uint8Array {
    return this.#open.rows.hashes(level * tileHeight, first, count);
  }

  positionOf(index: number): LogPosition {
    return logPosition(this.#open.rows.positionOf(index) + epochShift(this.#epoch()));
  }

  leavesUntil(position: LogPosition): number {
    const wanted = position - epochShift(this.#epoch());
    const { rows } = this.#open;
    let [from, until] = [0, this.size()];
    while (from < until) {
      const middle = Math.floor((from + until) / 2);
      if (rows.positionOf(middle) <= wanted) from = middle + 1;
      else until = middle;
    }
    return from;
  }

  indexOf(position: LogPosition): number | undefined {
    const last = this.leavesUntil(position) - 1;
    return last >= 0 && this.positionOf(last) === position ? last : undefined;
  }

  lastHead(): RecordedHead | undefined {
    return this.#lastHead;
  }

  get #open(): Tables {
    if (this.#tables === undefined) throw new Error('the tree is not open yet');
    return this.#tables;
  }

  #load(): void {
    const { range, heads } = this.#open;
    const bytes: unknown = range.get(rangeKey);
    this.#range = Buffer.isBuffer(bytes) ? decodeRange(bytes) : new CompactRange();
    const head: unknown = heads.get(lastKey);
    this.#lastHead = typeof head === 'string' ? decodeHead(head) : undefined;
  }

  /**
   * Keeps the stated size and root of an event in memory for `write`, because the table lacks hashes of the open batch
   * before `write`. Returns the estimated bytes in memory.
   */
  #note(recorded: RecordedEvent): number {
    const { event } = decodeEvent(recorded);
    const stated = statedBy(event);
    if (stated === undefined) return 0;
    const { size, root } = stated;
    const place = `the ${event.type} at position ${recorded.position.toString()}`;
    if (!Number.isSafeInteger(size) || size < 0 || size > this.size())
      throw new TreeMismatchError(`${place} covers ${String(size)} leaves, but the tree has ${String(this.size())}`);
    const head = {
      size,
      root,
      index: this.size() - 1,
      time: stampOf(recorded),
    };
    this.#stated.push({ size, root, place, head: event.type === 'TreeHead' ? head : undefined });
    return statedBytes;
  }

  #compare({ size, root, place, head }: StatedRoot): void {
    const own = Buffer.from(this.root(size)).toString('base64');
    if (own !== root)
      throw new TreeMismatchError(
        `${place} states the root ${root} of the first ${String(size)} leaves, but their root is ${own}`,
      );
    if (head === undefined) return;
    this.#lastHead = head;
    this.#open.heads.putSync(lastKey, encodeHead(head));
  }
}

type StatedRoot = {
  readonly size: number;
  readonly root: string;
  /** The description of the event for an error. */
  readonly place: string;
  /** The head, if the event is a `TreeHead`. */
  readonly head: RecordedHead | undefined;
};

/** The estimated bytes of a stated root in memory. */
const statedBytes = 512;

type Tables = {
  readonly rows: TreeRows;
  /** One entry: the number of leaves, and the hashes of the nodes that cover all leaves. */
  readonly range: Table<Buffer, string>;
  /** One entry: the latest `TreeHead`. */
  readonly heads: Table<string, string>;
};

const rangeKey = 'range';
const lastKey = 'last';
const sizeBytes = 8;

type StatedSize = {
  readonly size: number;
  readonly root: string;
};

function statedBy(event: DomainEvent): StatedSize | undefined {
  switch (event.type) {
    case 'TreeHead':
      return event;
    case 'CopyFinished':
      return event.tree;
    case 'EpochStarted':
      return event.before;
    default:
      return undefined;
  }
}

function encodeRange(range: CompactRange): Buffer {
  const { hashes } = range;
  const bytes = Buffer.allocUnsafe(sizeBytes + hashes.length * hashBytes);
  bytes.writeBigUInt64BE(BigInt(range.until));
  for (const [at, hash] of hashes.entries()) bytes.set(hash, sizeBytes + at * hashBytes);
  return bytes;
}

function decodeRange(bytes: Buffer): CompactRange {
  const hashes: Hash[] = [];
  for (let at = sizeBytes; at < bytes.length; at += hashBytes) hashes.push(bytes.subarray(at, at + hashBytes));
  return CompactRange.of(0, Number(bytes.readBigUInt64BE()), hashes);
}

function decodeHead(text: string): RecordedHead {
  const [size, root, index, time] = text.split(' ');
  return {
    size: Number(size),
    root: root ?? '',
    index: Number(index),
    time: time ?? '',
  };
}

function encodeHead({ size, root, index, time }: RecordedHead): string {
  return [size, root, index, time].join(' ');
}
