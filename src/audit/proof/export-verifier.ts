import { isObject } from '../../base/guards.ts';
import { parseCheckpoint, type Checkpoint } from './checkpoint.ts';
import { CompactRange } from './compact-range.ts';
import { parseExportLine } from './export-lines.ts';
import type { ExportedEvent, ExportEnd, ExportHeader, ExportRecord, LineProblem } from './export-lines.ts';
import { leafOf } from './leaf-entry.ts';
import { equalHashes, hashBytes, type Hash } from './merkle.ts';
import { RecentRoots } from './recent-roots.ts';
import { exactBase64, parseNote, verifyNote, type VerifierKey } from './signed-note.ts';

/** `changed`: the file was changed or truncated, or is not an export. `foreign`: the keys belong to another server. */
export type ExportProblem = { readonly ok: false; readonly reason: 'changed' | 'foreign'; readonly detail: string };

export type VerifiedExport = {
  readonly ok: true;
  readonly header: ExportHeader;
  /** The signed checkpoint of the tree with the exported events. */
  readonly checkpoint: Checkpoint;
  /** The number of checkpoints and `TreeHead` events that agree with the exported events. */
  readonly agreeing: number;
  /** The positions of the first and the last event; undefined for an export without events. */
  readonly positions: readonly [first: bigint, last: bigint] | undefined;
};

/** Verifies an export line by line, with public keys and without a server. The events are not stored. */
export class ExportVerifier {
  readonly #keys: readonly VerifierKey[];
  #lines = 0;
  #begun: Begun | undefined;
  #end: Checkpoint | undefined;
  #agreed: Agreed | undefined;
  #agreeing = 0;
  #first: bigint | undefined;
  #last: bigint | undefined;

  /** `keys` are the trusted keys of the server's nodes. There must be at least one. */
  constructor(keys: readonly VerifierKey[]) {
    this.#keys = keys;
  }

  /**
   * Verifies the next line, given without a line feed. Returns the problem of the line; undefined without a problem.
   * After a problem, no more lines may be added.
   */
  add(line: Uint8Array): ExportProblem | undefined {
    this.#lines += 1;
    if (this.#end !== undefined) return this.#extraLine(line);
    const parsed = parseExportLine(line);
    if (!parsed.ok) return this.#badLine(parsed.problem);
    const { record } = parsed;
    if (record.kind === 'Export') return this.#begin(record);
    if (this.#begun === undefined) return changed('this is not an export: it does not begin with a header');
    return this.#continue(record, this.#begun);
  }

  /**
   * Adds the next line, which another thread has parsed and hashed. The line must not be a `TreeHead` event, because
   * only `add` compares the root. Returns false, and adds nothing, if the line is not the expected event. The caller
   * then calls `add` with the line to get the problem.
   */
  addLeaf(index: number, position: bigint, leaf: Hash): boolean {
    const { header, roots } = this.#begun ?? {};
    if (header === undefined || roots === undefined || this.#end !== undefined) return false;
    if (index !== roots.size || index >= header.until || !this.#isLater(position)) return false;
    this.#lines += 1;
    this.#append(position, leaf, roots);
    return true;
  }

  /** Describes the place after the added lines; undefined before the first leaf of an export, and before the header. */
  place(): string | undefined {
    const { header, roots } = this.#begun ?? {};
    if (header === undefined || roots === undefined) return undefined;
    if (roots.size < header.until) return `at leaf ${String(roots.size)}`;
    return header.until === header.from ? undefined : `after leaf ${String(header.until - 1)}, the last leaf`;
  }

  /** Returns the result. Must be called after the last line. */
  finish(): VerifiedExport | ExportProblem {
    if (this.#begun === undefined) return changed('the file is empty');
    const { header, roots } = this.#begun;
    if (this.#end === undefined && roots.size === header.until)
      return changed('the export is truncated: it has all leaves of its range, and its last line is missing');
    if (this.#end === undefined)
      return changed(
        `the export is truncated: it ends before leaf ${String(roots.size)}, and its header announces ` +
          `leaves ${String(header.from)} to ${String(header.until - 1)}`,
      );
    const positions = this.#first === undefined || this.#last === undefined ? undefined : this.#positions();
    return { ok: true, header, checkpoint: this.#end, agreeing: this.#agreeing, positions };
  }

  #positions(): readonly [bigint, bigint] {
    return [this.#first ?? 0n, this.#last ?? 0n];
  }

  #extraLine(line: Uint8Array): ExportProblem {
    const content = line.length === 0 ? ', which is empty,' : '';
    return changed(`line ${String(this.#lines)}${content} follows the end of the export`);
  }

  #badLine(problem: LineProblem): ExportProblem {
    const place = this.#begun === undefined ? '' : `, at leaf ${String(this.#begun.roots.size)},`;
    if (this.#lines === 1) return changed('this is not an export, or its header has been changed');
    return changed(
      problem === 'sum'
        ? `line ${String(this.#lines)}${place} has been changed: it does not match its sum`
        : `line ${String(this.#lines)}${place} has been changed: no server writes it in this form`,
    );
  }

  #begin(header: ExportHeader): ExportProblem | undefined {
    if (this.#begun !== undefined) return changed(`line ${String(this.#lines)} is a second header`);
    const { origin, from, until, left } = header;
    const names = [...new Set(this.#keys.map(({ name }) => name))];
    if (!names.includes(origin))
      return foreign(`the export is of the tree ${shown(origin)}, and the key is of ${names.map(shown).join(', ')}`);
    const range = rangeOf(0, from, left);
    if (range === undefined || until < from) return changed('the header has been changed: its range is not valid');
    this.#begun = { header, roots: new RecentRoots(range) };
    return undefined;
  }

  #continue(record: Exclude<ExportRecord, ExportHeader>, begun: Begun): ExportProblem | undefined {
    switch (record.kind) {
      case 'Event':
        return this.#event(record, begun);
      case 'Checkpoint':
        return this.#checkpoint(record.checkpoint, begun);
      case 'End':
        return this.#ending(record, begun);
    }
  }

  #event(event: ExportedEvent, { header, roots }: Begun): ExportProblem | undefined {
    const { index, position } = event;
    const expected = roots.size;
    if (index !== expected)
      return changed(
        `leaf ${String(index)} (${nameOf(event)}) is in the place of leaf ${String(expected)}: ` +
          (index > expected ? 'events have been dropped or moved' : 'events have been added or moved'),
      );
    if (index >= header.until) return changed(`leaf ${String(index)} (${nameOf(event)}) is beyond the announced range`);
    if (!this.#isLater(position))
      return changed(
        `leaf ${String(index)} (${nameOf(event)}) has a position that is not after the position of the previous leaf`,
      );
    this.#append(position, leafOf(event), roots);
    return isTreeHead(event) ? this.#head(event, roots) : undefined;
  }

  #isLater(position: bigint): boolean {
    return this.#last === undefined || position > this.#last;
  }

  #append(position: bigint, leaf: Hash, roots: RecentRoots): void {
    roots.append(leaf);
    this.#first ??= position;
    this.#last = position;
  }

  #head(event: ExportedEvent, roots: RecentRoots): ExportProblem | undefined {
    const stated = treeHeadOf(event);
    const root = stated === undefined ? undefined : roots.rootAt(stated.size);
    if (stated === undefined || root === undefined) return undefined;
    return this.#agrees(stated, root, `the TreeHead at leaf ${String(event.index)}`);
  }

  #checkpoint(note: string, { header, roots }: Begun): ExportProblem | undefined {
    const checkpoint = this.#signed(note, header);
    if ('ok' in checkpoint) return checkpoint;
    if (checkpoint.size !== roots.size)
      return changed(
        `the checkpoint of ${String(checkpoint.size)} leaves is in the wrong place, before leaf ${String(roots.size)}`,
      );
    return this.#agrees(checkpoint, roots.rootAt(roots.size) ?? checkpoint.root, 'the signed checkpoint');
  }

  #ending({ right, checkpoint: note }: ExportEnd, { header, roots }: Begun): ExportProblem | undefined {
    if (roots.size !== header.until)
      return changed(
        `the export ends before leaf ${String(roots.size)}, and its header announces leaves up to ` +
          `${String(header.until - 1)}: events have been dropped`,
      );
    const checkpoint = this.#signed(note, header);
    if ('ok' in checkpoint) return checkpoint;
    const rest = rangeOf(roots.size, checkpoint.size, right);
    if (rest === undefined) return changed('the last line has been changed: its hashes do not lead to its checkpoint');
    this.#end = checkpoint;
    return this.#agrees(checkpoint, roots.rootWith(rest), 'the signed checkpoint', header.until);
  }

  #agrees(
    { size, root }: Pick<Checkpoint, 'size' | 'root'>,
    computed: Hash,
    place: string,
    until = size,
  ): ExportProblem | undefined {
    if (!equalHashes(computed, root)) return changed(this.#disagreement(size, until, place));
    this.#agreed = { size: until, place: `${place} of ${String(size)} leaves` };
    this.#agreeing += 1;
    return undefined;
  }

  #disagreement(size: number, until: number, place: string): string {
    const from = this.#agreed?.size ?? this.#begun?.header.from ?? 0;
    const before = this.#agreed === undefined ? 'the beginning of the export' : this.#agreed.place;
    return (
      `the events do not have the root of ${place} of ${String(size)} leaves: one of the leaves ` +
      `${String(from)} to ${String(until - 1)} has been changed, dropped, added or moved, ` +
      `between ${before} and ${place} of ${String(size)} leaves`
    );
  }

  #signed(text: string, { origin }: ExportHeader): Checkpoint | ExportProblem {
    const note = parseNote(text);
    const checkpoint = note === undefined ? undefined : parseCheckpoint(note.text);
    if (note === undefined || checkpoint === undefined)
      return changed(`the checkpoint in line ${String(this.#lines)} is not valid`);
    if (checkpoint.origin !== origin)
      return changed(
        `the checkpoint is of the tree ${shown(checkpoint.origin)}, and the export is of the tree ${shown(origin)}`,
      );
    const verdict = verifyNote(note, this.#keys);
    if (verdict === 'signed') return checkpoint;
    if (verdict === 'forged')
      return changed(`the signature of the checkpoint of ${String(checkpoint.size)} leaves is wrong`);
    const [by, known] = [note.signatures, this.#keys].map((list) => list.map(({ id }) => id).join(', '));
    return foreign(
      `the checkpoint of ${String(checkpoint.size)} leaves is signed by the key ${by ?? ''}, ` +
        `but the given key is ${known ?? ''}: the key is of another server, or the server has a new key`,
    );
  }
}

export function isTreeHead({ type, stream }: ExportedEvent): boolean {
  return type === 'TreeHead' && stream === 'platform:tree';
}

type Begun = { readonly header: ExportHeader; readonly roots: RecentRoots };

/**
 * The last signed checkpoint or `TreeHead` event that agrees with the exported events. `place` describes it in
 * messages. `size` is its number of leaves, from the beginning of the log.
 */
type Agreed = { readonly size: number; readonly place: string };

function rangeOf(from: number, until: number, hashes: readonly Hash[]): CompactRange | undefined {
  try {
    return until < from ? undefined : CompactRange.of(from, until, hashes);
  } catch {
    return undefined;
  }
}

/**
 * Returns undefined for a `TreeHead` that cannot be decoded. A changed `TreeHead` is detected nevertheless, because the
 * event is a leaf.
 */
function treeHeadOf({ data }: ExportedEvent): { readonly size: number; readonly root: Hash } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(typeof data === 'string' ? data : '');
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value['root'] !== 'string' || typeof value['size'] !== 'number') return undefined;
  const root = exactBase64(value['root']);
  return root?.length === hashBytes ? { size: value['size'], root } : undefined;
}

function nameOf({ id, type, stream }: ExportedEvent): string {
  return `${shown(type)} ${shown(id)} in ${shown(stream)}`;
}

/** Makes a text from the file safe for a terminal. */
function shown(text: string): string {
  const line = text.replaceAll(/\p{C}/gu, '�');
  return line.length > shownLengthMax ? `${line.slice(0, shownLengthMax)}…` : line;
}

const shownLengthMax = 200;

function changed(detail: string): ExportProblem {
  return { ok: false, reason: 'changed', detail };
}

function foreign(detail: string): ExportProblem {
  return { ok: false, reason: 'foreign', detail };
}
