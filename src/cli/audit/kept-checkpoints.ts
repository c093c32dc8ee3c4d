import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseCheckpoint, type Checkpoint } from '../../audit/proof/checkpoint.ts';
import { parseNote, parseVerifierKey, verifyNote, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { usageError, type CommandFailure } from '../failure.ts';
import { printable } from '../text-table.ts';

/** A checkpoint in the folder, with the signed note that contains the checkpoint. */
export type KeptCheckpoint = ShownCheckpoint & {
  /** The path of the checkpoint's file within the folder. */
  readonly path: string;
};

/** A checkpoint with its signed note, as received from a server. */
export type ShownCheckpoint = {
  readonly note: string;
  readonly checkpoint: Checkpoint;
};

/**
 * The checkpoints in a folder. Each checkpoint is in the file `<tree>/<size>.note`, where `<tree>` is the SHA-256 of
 * the tree's origin. The file `last` contains the `<tree>` of the last stored checkpoint. The file `keys` contains the
 * trusted keys.
 */
export class KeptCheckpoints {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Returns the largest checkpoint of the tree in the file `last`; undefined if no checkpoint is stored.
   *
   * @throws CommandFailure if a file is damaged or cannot be read. `of` and `keys` throw the same error.
   */
  last(): KeptCheckpoint | undefined {
    const trees = this.#trees();
    if (trees.length === 0) return undefined;
    const latest = this.#read('last')?.trim() ?? '';
    if (!trees.includes(latest)) throw this.#damaged('last', 'it does not contain the name of a tree in the folder');
    return this.#of(latest).at(-1);
  }

  /** Returns all checkpoints of a tree, in the order of their sizes. */
  of(origin: string): readonly KeptCheckpoint[] {
    return this.#of(treeName(origin));
  }

  /**
   * Verifies the signatures of all checkpoints, of all trees. `keysOf` returns the trusted keys of a tree.
   *
   * @throws CommandFailure that names the first damaged file.
   */
  verify(keysOf: (origin: string) => readonly VerifierKey[]): void {
    for (const { note, checkpoint, path } of this.#trees().flatMap((tree) => this.#of(tree))) {
      const parsed = parseNote(note);
      const verdict = parsed === undefined ? 'unsigned' : verifyNote(parsed, keysOf(checkpoint.origin));
      if (verdict === 'forged') throw this.#damaged(path, 'the signature of its checkpoint is wrong');
      if (verdict === 'unsigned') throw this.#damaged(path, 'no trusted key has signed its checkpoint');
    }
  }

  keep({ note, checkpoint: { origin, size } }: ShownCheckpoint): void {
    const name = treeName(origin);
    mkdirSync(join(this.#dir, name), { recursive: true, mode: 0o700 });
    this.#write(join(name, `${String(size)}.note`), note);
    this.#write('last', `${name}\n`);
  }

  /** Returns the stored trusted keys; an empty list if the file `keys` does not exist. */
  keys(): readonly VerifierKey[] {
    const lines = (this.#read('keys') ?? '').split('\n').filter((line) => line !== '');
    return lines.map((line, at) => {
      const key = parseVerifierKey(line);
      if (key === undefined) throw this.#damaged('keys', `line ${String(at + 1)} is not a verifier key`);
      return key;
    });
  }

  keepKeys(keys: readonly string[]): void {
    this.#write('keys', keys.map((key) => `${key}\n`).join(''));
  }

  #trees(): readonly string[] {
    return this.#names('').filter((name) => /^[0-9a-f]{64}$/u.test(name));
  }

  #of(tree: string): readonly KeptCheckpoint[] {
    const sizes = this.#names(tree).flatMap((name) => {
      const [, size] = /^(\d{1,16})\.note$/u.exec(name) ?? [];
      return size === undefined ? [] : [Number(size)];
    });
    return sizes.toSorted((one, other) => one - other).map((size) => this.#checkpoint(tree, size));
  }

  #checkpoint(tree: string, size: number): KeptCheckpoint {
    const path = join(tree, `${String(size)}.note`);
    const note = this.#read(path) ?? '';
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
    if (checkpoint === undefined) throw this.#damaged(path, 'it is not a checkpoint');
    if (treeName(checkpoint.origin) !== tree || checkpoint.size !== size)
      throw this.#damaged(path, "its checkpoint does not match the tree and size in the file's path");
    return { note, checkpoint, path };
  }

  #damaged(path: string, detail: string): CommandFailure {
    return usageError(`${printable(join(this.#dir, path))} is damaged: ${detail}`);
  }

  #names(folder: string): readonly string[] {
    return this.#unlessMissing(folder, (path) => readdirSync(path)) ?? [];
  }

  #read(path: string): string | undefined {
    return this.#unlessMissing(path, (file) => readFileSync(file, 'utf8'));
  }

  #unlessMissing<T>(path: string, read: (path: string) => T): T | undefined {
    const full = join(this.#dir, path);
    try {
      return read(full);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (code === 'ENOENT') return undefined;
      throw usageError(`${printable(full)} cannot be read (${code})`);
    }
  }

  /** Writes the file atomically: after a crash, the file contains either its previous text or all of `text`. */
  #write(path: string, text: string): void {
    const target = join(this.#dir, path);
    writeFileSync(`${target}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${target}.new`, target);
  }
}

function treeName(origin: string): string {
  return createHash('sha256').update(origin).digest('hex');
}
