import { firstLevel, levelRead } from '../src/command/level.ts';
import { NewerEventError } from '../src/log/log.ts';
import type { LevelReader } from '../src/read/declarations.ts';
import type { LmdbTables, Writer } from './lmdb-tables.ts';

/** The level of the log, cached in memory from the tables. */
export class Level implements LevelReader {
  readonly #listeners = new Set<(level: number) => void>();
  #level: number;

  constructor(tables: Pick<LmdbTables, 'level'>) {
    this.#level = tables.level() ?? firstLevel;
  }

  level(): number {
    return this.#level;
  }

  subscribe(listener: (level: number) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  begin(): LevelBatch {
    return new LevelBatch(this.#level);
  }

  keep({ level }: LevelBatch): void {
    if (level === this.#level) return;
    this.#level = level;
    for (const listener of this.#listeners) listener(level);
  }

  clear(): void {
    this.#level = firstLevel;
  }
}

/** The level after one batch of events. `Level.keep` applies the level after the commit. */
export class LevelBatch {
  level: number;
  readonly #before: number;

  constructor(before: number) {
    this.#before = before;
    this.level = before;
  }

  /** @throws NewerEventError if this version of the program cannot read events of the level. */
  raise(level: number): void {
    assertReadable(level);
    this.level = Math.max(this.level, level);
  }

  write(writer: Pick<Writer, 'putLevel'>): void {
    if (this.level !== this.#before) writer.putLevel(this.level);
  }
}

export function assertReadable(level: number): void {
  if (level > levelRead)
    throw new NewerEventError(
      `the level of the log is ${String(level)}, but this version reads only up to ${String(levelRead)}`,
    );
}
