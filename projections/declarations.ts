import type { DeclarationReader } from '../src/read/declarations.ts';
import type { HeldValue } from '../src/resource/index-definition.ts';
import type { TypeKey } from '../src/resource/index-entry.ts';
import type { LmdbTables, Writer } from './lmdb-tables.ts';

const none: ReadonlySet<string> = new Set();

/** What folded events say of declarations: kept in the tables, read from memory. */
export class Declarations implements DeclarationReader {
  readonly #onceUnique = new Map<TypeKey, ReadonlySet<string>>();

  constructor(tables: Pick<LmdbTables, 'onceUnique'>) {
    for (const [type, names] of tables.onceUnique()) this.#onceUnique.set(type, new Set(names));
  }

  onceUnique(type: TypeKey): ReadonlySet<string> {
    return this.#onceUnique.get(type) ?? none;
  }

  begin(): DeclarationsBatch {
    return new DeclarationsBatch(this.#onceUnique);
  }

  keep(batch: DeclarationsBatch): void {
    for (const [type, names] of batch.onceUnique) this.#onceUnique.set(type, names);
  }

  clear(): void {
    this.#onceUnique.clear();
  }
}

/** Those of one batch, which may yet come to nothing. */
export class DeclarationsBatch {
  /** Of types of which it says more than was known. */
  readonly onceUnique = new Map<TypeKey, ReadonlySet<string>>();
  readonly #known: ReadonlyMap<TypeKey, ReadonlySet<string>>;

  constructor(known: ReadonlyMap<TypeKey, ReadonlySet<string>>) {
    this.#known = known;
  }

  noteValues(type: TypeKey, values: readonly HeldValue[]): void {
    for (const { index } of values) {
      const names = this.onceUnique.get(type) ?? this.#known.get(type) ?? none;
      if (!names.has(index)) this.onceUnique.set(type, new Set([...names, index]));
    }
  }

  write(writer: Writer): void {
    for (const [type, names] of this.onceUnique) writer.putOnceUnique(type, [...names]);
  }
}
