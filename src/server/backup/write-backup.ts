import { renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { showByteCount } from '../../base/byte-count.ts';
import { systemClock } from '../../base/clock.ts';
import { syncFolder, writeDurably } from '../../disk/durable-file.ts';
import { removeEmptyFolders } from '../../disk/new-folders.ts';
import { reserveOf } from '../../disk/disk-reserve.ts';
import { spaceOf } from '../../disk/disk-space.ts';
import { backupPieceBytesMax, backupReportMs, backupSegmentsMax, backupsMax } from '../../limits/backup.ts';
import { isLeafStream } from '../../audit/proof/leaf-entry.ts';
import { RecordReader } from '../../log/lmdb/lmdb-records.ts';
import { assertContinued } from './assert-continued.ts';
import { BackupDamagedError, BackupRefusedError, BackupStoppedError } from './backup-errors.ts';
import {
  assertFree,
  assertSegments,
  prepareFolder,
  readChain,
  removeLeftovers,
  type BackupChain,
} from './backup-folder.ts';
import type { BackupMessage, BackupSummary, BackupTask } from './backup-task.ts';
import { RecordTree, shownRoot, signedTree } from './backup-tree.ts';
import {
  encodeManifest,
  hexDigest,
  manifestName,
  partSuffix,
  segmentName,
  unsignedLengthMax,
  type BackupTree,
  type Manifest,
  type SegmentEntry,
} from './manifest.ts';
import { readSegment, SegmentWriter } from './segment-file.ts';

export type BackupPorts = {
  readonly post: (message: BackupMessage) => void;
  readonly isStopped: () => boolean;
};

/** The number of a backup, and the raw positions of its first and last record. */
type Span = { readonly number: number; readonly first: number; readonly last: number };

type FinishedSegment = {
  readonly entry: SegmentEntry;
  readonly tree: RecordTree;
  readonly span: Span;
};

type WrittenSegments = {
  readonly segments: readonly SegmentEntry[];
  readonly lastRecord: string;
};

/**
 * Copies the records that the folder lacks, reads the copies back, and then writes a manifest. The new files become a
 * backup only with the manifest. Earlier backups are unchanged.
 */
export class BackupRun {
  isAccepted = false;
  readonly #task: BackupTask;
  readonly #ports: BackupPorts;
  readonly #parts = new Set<string>();
  /** The folder, if this run has created the folder. */
  #newFolder: string | undefined;
  #neededBytes = 0;
  #source: RecordReader | undefined;
  #open: SegmentWriter | undefined;
  #reportedAt = systemClock.monotonic();

  constructor(task: BackupTask, ports: BackupPorts) {
    this.#task = task;
    this.#ports = ports;
  }

  async run(): Promise<void> {
    const { backupDir, name, logDir, identity } = this.#task;
    const { folder, isNew } = prepareFolder(backupDir, name);
    if (isNew) this.#newFolder = folder;
    const chain = readChain(folder);
    const source = await RecordReader.open(logDir);
    this.#source = source;
    assertContinued(folder, chain, { identity, source });
    assertSegments(folder, chain);
    const before = chain.manifests.at(-1);
    const span = { number: (before?.number ?? 0) + 1, first: (before?.last ?? 0) + 1, last: this.#end(source) };
    removeLeftovers(folder, chain);
    this.#neededBytes = this.#bytesOf(span);
    this.#assertRoom(folder, this.#neededBytes);
    if (span.number > backupsMax)
      throw new BackupRefusedError(
        'already-exists',
        `${folder} has the maximum of ${String(backupsMax)} backups: choose another name`,
      );
    this.isAccepted = true;
    this.#ports.post({ kind: 'accepted' });
    const added = span.first > span.last ? undefined : await this.#add(folder, chain, span);
    this.#ports.post({ kind: 'done', summary: summaryOf(folder, span, added ?? before) });
  }

  /** The estimated bytes of the whole backup; 0 before the estimate. */
  neededBytes(): number {
    return this.#neededBytes;
  }

  /** Closes the log, and removes incomplete files. Also removes an empty folder that this run created. */
  async close(): Promise<void> {
    this.#open?.abandon();
    for (const path of this.#parts) rmSync(path, { force: true });
    if (this.#newFolder !== undefined) removeEmptyFolders([this.#newFolder]);
    await this.#source?.close();
  }

  async #add(folder: string, chain: BackupChain, span: Span): Promise<Manifest> {
    const before = chain.manifests.at(-1);
    const { segments, lastRecord } = await this.#copy(folder, span);
    const tree = new RecordTree(before?.tree);
    for (const entry of segments) await this.#verify(folder, { entry, tree, span });
    const copied = this.#signed(tree.summary());
    this.#goOn();
    const name = manifestName(span.number);
    assertFree(folder, [name, ...segments.map(({ file }) => file)]);
    for (const { file } of segments) {
      this.#parts.add(join(folder, file));
      renameSync(join(folder, `${file}${partSuffix}`), join(folder, file));
    }
    await syncFolder(folder);
    const manifest: Manifest = {
      ...span,
      ...this.#task.identity,
      time: new Date(systemClock.now()).toISOString(),
      lastRecord,
      segments,
      ...(chain.digest === undefined ? {} : { previous: chain.digest }),
      tree: copied,
    };
    assertFree(folder, [name]);
    this.#parts.add(join(folder, name));
    await writeDurably(join(folder, name), encodeManifest(manifest));
    // Another server may have removed segments that no manifest named yet.
    assertSegments(folder, { manifests: [manifest], digest: undefined });
    // With the manifest, the backup is complete.
    this.#parts.clear();
    return manifest;
  }

  async #copy(folder: string, span: Span): Promise<WrittenSegments> {
    const segments: SegmentEntry[] = [];
    let lastRecord: Buffer = Buffer.alloc(0);
    let first = span.first;
    const { identity, segmentBytesMax } = this.#task;
    const finish = (writer: SegmentWriter, last: number): void => {
      const sha256 = writer.finish();
      this.#open = undefined;
      segments.push({ file: segmentName(span.number, segments.length + 1), first, last, bytes: writer.bytes, sha256 });
      first = last + 1;
    };
    for (let next = span.first; next <= span.last;) {
      this.#goOn();
      const taken = this.#source?.take(next, span.last, backupPieceBytesMax) ?? [];
      for (const { position, bytes } of taken) {
        this.#open ??= this.#newSegment(folder, segmentName(span.number, segments.length + 1), identity.logId);
        this.#open.add(bytes);
        lastRecord = bytes;
        if (this.#open.bytes >= segmentBytesMax && segments.length < backupSegmentsMax - 1)
          finish(this.#open, position);
      }
      next += taken.length;
      this.#report('copying', next - 1, span, folder);
      await nextTurn();
    }
    if (this.#open !== undefined) finish(this.#open, span.last);
    return { segments, lastRecord: hexDigest(lastRecord) };
  }

  #newSegment(folder: string, file: string, logId: string): SegmentWriter {
    const path = join(folder, `${file}${partSuffix}`);
    this.#parts.add(path);
    return new SegmentWriter(path, logId);
  }

  /** Reads a segment back, checks the segment, and adds its records to `tree`. */
  async #verify(folder: string, { entry, tree, span }: FinishedSegment): Promise<void> {
    let bytes = 0;
    const as = `${entry.file}${partSuffix}`;
    for (const record of readSegment(folder, { entry, logId: this.#task.identity.logId, as })) {
      tree.add(record.event);
      bytes += record.bytes.length;
      if (bytes < backupPieceBytesMax) continue;
      bytes = 0;
      this.#goOn();
      this.#report('verifying', record.position, span, folder);
      await nextTurn();
    }
  }

  /**
   * Returns the raw position of the last record before the first leaf that is not in the signed tree. Without a signed
   * checkpoint, returns the end of the log.
   */
  #end(source: RecordReader): number {
    const { checkpoint } = this.#task;
    if ('unsigned' in checkpoint) return source.last;
    let last = checkpoint.position;
    for (; last < source.last; last += 1) {
      const [next] = source.take(last + 1, last + 1, 1);
      if (next === undefined || isLeafStream(next.event.stream)) break;
    }
    return last;
  }

  /**
   * Returns the tree with the signed checkpoint, or with the reason why the checkpoint is absent.
   *
   * @throws BackupDamagedError if the tree of the copied records differs from the signed tree.
   */
  #signed(copied: BackupTree): BackupTree {
    const { checkpoint } = this.#task;
    if ('unsigned' in checkpoint) return { ...copied, unsigned: checkpoint.unsigned.slice(0, unsignedLengthMax) };
    const { size, root } = copied;
    const signed = signedTree(checkpoint.note);
    if (signed?.size === size && signed.root === root) return { ...copied, checkpoint: checkpoint.note };
    throw new BackupDamagedError(
      'the copy of the log',
      `its tree has ${String(size)} leaves with root ${root}, but this server has signed ` +
        `${String(signed?.size)} leaves with root ${String(signed?.root)}`,
    );
  }

  /** Estimates the bytes of the records as a share of the size of the log file. */
  #bytesOf({ first, last }: Span): number {
    const { size } = statSync(join(this.#task.logDir, 'data.mdb'));
    return last === 0 ? 0 : Math.ceil((size * (last + 1 - first)) / last);
  }

  /** `more` is the number of bytes that the backup has not yet written. */
  #assertRoom(folder: string, more: number): void {
    const space = spaceOf(statfsSync(folder));
    const reserve = reserveOf(space, this.#task.reserveBytes);
    if (space.freeBytes - more >= reserve) return;
    throw new BackupRefusedError(
      'insufficient-storage',
      `not enough free disk space in ${folder}: ${showByteCount(space.freeBytes)} are free, the backup needs about ` +
        `${showByteCount(this.#neededBytes)} beside the reserve of ${showByteCount(reserve)}`,
    );
  }

  #goOn(): void {
    if (this.#ports.isStopped()) throw new BackupStoppedError();
  }

  #report(step: 'copying' | 'verifying', position: number, { first, last }: Span, folder: string): void {
    if (systemClock.monotonic() - this.#reportedAt < backupReportMs) return;
    this.#reportedAt = systemClock.monotonic();
    this.#assertRoom(folder, 0);
    const percent = Math.floor((100 * (position + 1 - first)) / (last + 1 - first));
    this.#ports.post({ kind: 'progress', step, position, percent });
  }
}

/**
 * `latest` is the newest backup in the folder; undefined for an empty folder. If this run added no records, `latest` is
 * an earlier backup.
 */
function summaryOf(folder: string, { number, first, last }: Span, latest: Manifest | undefined): BackupSummary {
  const { tree, ...shown } = latest ?? empty;
  const written = shown.number === number;
  return {
    folder,
    written,
    number: shown.number,
    events: written ? last + 1 - first : 0,
    bytes: written ? shown.segments.reduce((sum, { bytes }) => sum + bytes, 0) : 0,
    position: shown.last,
    tree: { size: tree.size, root: shownRoot(tree.root), signed: tree.checkpoint !== undefined },
    ...(tree.unsigned === undefined ? {} : { unsigned: tree.unsigned }),
  };
}

const empty: Pick<Manifest, 'number' | 'last' | 'segments' | 'tree'> = {
  number: 0,
  last: 0,
  segments: [],
  tree: { size: 0, root: '', nodes: [] },
};
