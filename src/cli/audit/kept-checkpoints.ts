import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseCheckpoint, type Checkpoint } from '../../audit/proof/checkpoint.ts';
import { parseNote } from '../../audit/proof/signed-note.ts';
import { usageError } from '../failure.ts';
import { printable } from '../text-table.ts';

/** A checkpoint with the signed note that proves it. */
export type KeptCheckpoint = { readonly note: string; readonly checkpoint: Checkpoint };

/**
 * The checkpoints in a folder, each in the file `<tree>/<size>.note`. `<tree>` is the SHA-256 of the tree's origin. The
 * file `last` names the latest tree, and the file `keys` lists the trusted keys.
 */
export class KeptCheckpoints {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Returns the largest checkpoint of the tree with this origin, by default of the latest tree. */
  last(origin?: string): KeptCheckpoint | undefined {
    const latest = origin === undefined ? this.#read('last')?.trim() : treeName(origin);
    if (latest === undefined || !/^[0-9a-f]{64}$/u.test(latest)) return undefined;
    const sizes = this.#names(latest).flatMap((name) => {
      const [, size] = /^(\d{1,16})\.note$/u.exec(name) ?? [];
      return size === undefined ? [] : [Number(size)];
    });
    return sizes.length === 0 ? undefined : this.#checkpoint(join(latest, `${String(Math.max(...sizes))}.note`));
  }

  keep({ note, checkpoint: { origin, size } }: KeptCheckpoint): void {
    const name = treeName(origin);
    mkdirSync(join(this.#dir, name), { recursive: true, mode: 0o700 });
    this.#write(join(name, `${String(size)}.note`), note);
    this.#write('last', `${name}\n`);
  }

  keys(): readonly string[] {
    return (this.#read('keys') ?? '').split('\n').filter((line) => line !== '');
  }

  keepKeys(keys: readonly string[]): void {
    this.#write('keys', keys.map((key) => `${key}\n`).join(''));
  }

  #checkpoint(path: string): KeptCheckpoint {
    const note = this.#read(path) ?? '';
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
    if (checkpoint === undefined)
      throw usageError(`${printable(join(this.#dir, path))} is damaged: it is no checkpoint`);
    return { note, checkpoint };
  }

  #names(folder: string): readonly string[] {
    try {
      return readdirSync(join(this.#dir, folder));
    } catch {
      return [];
    }
  }

  #read(path: string): string | undefined {
    try {
      return readFileSync(join(this.#dir, path), 'utf8');
    } catch {
      return undefined;
    }
  }

  /** Writes the file in one step, so that a crash never leaves a part of the text. */
  #write(path: string, text: string): void {
    const target = join(this.#dir, path);
    writeFileSync(`${target}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${target}.new`, target);
  }
}

function treeName(origin: string): string {
  return createHash('sha256').update(origin).digest('hex');
}
