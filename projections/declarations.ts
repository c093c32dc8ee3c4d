import type { Declared, DeclarationFeed, DeclarationReader } from '../src/read/declarations.ts';
import type { HeldValue } from '../src/resource/held-values.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { LmdbTables, Writer } from './lmdb-tables.ts';

const none: ReadonlySet<string> = new Set();

type Known = {
  readonly declared: Map<TypeKey, Declared>;
  readonly onceUnique: Map<TypeKey, ReadonlySet<string>>;
};

/** What folded events say of declarations: kept in the tables, read from memory. */
export class Declarations implements DeclarationReader, DeclarationFeed {
  readonly #known: Known;
  readonly #listeners = new Set<(type: TypeKey) => void>();

  constructor(tables: Pick<LmdbTables, 'onceUnique' | 'declared'>) {
    const onceUnique = tables.onceUnique().map(([type, names]) => [type, new Set(names)] as const);
    this.#known = { declared: new Map(tables.declared()), onceUnique: new Map(onceUnique) };
  }

  declared(type: TypeKey): Declared | undefined {
    return this.#known.declared.get(type);
  }

  onceUnique(type: TypeKey): ReadonlySet<string> {
    return this.#known.onceUnique.get(type) ?? none;
  }

  subscribe(listener: (type: TypeKey) => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  begin(): DeclarationsBatch {
    return new DeclarationsBatch(this.#known);
  }

  keep({ declared, onceUnique }: DeclarationsBatch): void {
    for (const [type, names] of onceUnique) this.#known.onceUnique.set(type, names);
    for (const [type, last] of declared) this.#known.declared.set(type, last);
    for (const type of declared.keys()) for (const listener of this.#listeners) listener(type);
  }

  clear(): void {
    this.#known.declared.clear();
    this.#known.onceUnique.clear();
  }
}

/** What one batch says, which may yet come to nothing. */
export class DeclarationsBatch {
  readonly declared = new Map<TypeKey, Declared>();
  /** Of types of which it says more than was known. */
  readonly onceUnique = new Map<TypeKey, ReadonlySet<string>>();
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  noteValues(type: TypeKey, values: readonly Pick<HeldValue, 'index'>[]): void {
    for (const { index } of values) {
      const names = this.onceUnique.get(type) ?? this.#known.onceUnique.get(type) ?? none;
      if (!names.has(index)) this.onceUnique.set(type, new Set([...names, index]));
    }
  }

  declare(type: TypeKey, { revision, declaration }: Omit<Declared, 'since'>): void {
    const before = this.declared.get(type) ?? this.#known.declared.get(type);
    const since = declaration.unique.map(({ index, keys }) => {
      const isGoneOn = before?.declaration.unique.some((other) => other.index === index && other.keys === keys) === true;
      return [index, isGoneOn ? before.since[index] ?? revision : revision] as const;
    });
    this.declared.set(type, { revision, declaration, since: Object.fromEntries(since) });
    this.noteValues(type, declaration.unique);
  }

  write(writer: Writer): void {
    for (const [type, names] of this.onceUnique) writer.putOnceUnique(type, [...names]);
    for (const [type, last] of this.declared) writer.putDeclared(type, last);
  }
}
