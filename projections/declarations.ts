import type { UniquenessEvent } from '../src/command/event.ts';
import {
  isEnforced,
  type Declared,
  type DeclarationFeed,
  type DeclarationReader,
  type LateWrite,
} from '../src/read/declarations.ts';
import type { ReferenceFrom } from '../src/read/references/reference-reader.ts';
import type { HeldValue } from '../src/resource/type/held-values.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { LmdbTables, Writer } from './lmdb-tables.ts';

const none: ReadonlySet<string> = new Set();
const noReferences: readonly ReferenceFrom[] = [];

type DeclarationTables = {
  readonly declared: Map<TypeKey, Declared>;
  readonly onceUnique: Map<TypeKey, ReadonlySet<string>>;
};

/** The latest declaration of each type, cached in memory from the tables. */
export class Declarations implements DeclarationReader, DeclarationFeed {
  readonly #known: DeclarationTables;
  #referencesTo: ReadonlyMap<TypeKey, readonly ReferenceFrom[]>;
  readonly #listeners = new Set<(type: TypeKey) => void>();
  readonly #onLate = new Set<(late: LateWrite) => void>();

  constructor(tables: Pick<LmdbTables, 'onceUnique' | 'declared'>) {
    const onceUnique = tables.onceUnique().map(([type, names]) => [type, new Set(names)] as const);
    this.#known = { declared: new Map(tables.declared()), onceUnique: new Map(onceUnique) };
    this.#referencesTo = byTarget(this.#known.declared);
  }

  declared(type: TypeKey): Declared | undefined {
    return this.#known.declared.get(type);
  }

  /** The declared references, from all types, to objects of `type`. */
  referencesTo(type: TypeKey): readonly ReferenceFrom[] {
    return this.#referencesTo.get(type) ?? noReferences;
  }

  onceUnique(type: TypeKey): ReadonlySet<string> {
    return this.#known.onceUnique.get(type) ?? none;
  }

  subscribe(listener: (type: TypeKey) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  onLate(listener: (late: LateWrite) => void): () => void {
    this.#onLate.add(listener);
    return () => {
      this.#onLate.delete(listener);
    };
  }

  begin(): DeclarationsBatch {
    return new DeclarationsBatch(this.#known);
  }

  keep({ declared, onceUnique, late }: DeclarationsBatch): void {
    for (const [type, names] of onceUnique) this.#known.onceUnique.set(type, names);
    for (const [type, last] of declared) this.#known.declared.set(type, last);
    if (declared.size > 0) this.#referencesTo = byTarget(this.#known.declared);
    for (const type of declared.keys()) for (const listener of this.#listeners) listener(type);
    for (const write of late) for (const listener of this.#onLate) listener(write);
  }

  clear(): void {
    this.#known.declared.clear();
    this.#known.onceUnique.clear();
    this.#referencesTo = new Map();
  }
}

function byTarget(declared: DeclarationTables['declared']): ReadonlyMap<TypeKey, readonly ReferenceFrom[]> {
  const found = new Map<TypeKey, ReferenceFrom[]>();
  for (const [from, { declaration }] of declared)
    for (const reference of declaration.references ?? [])
      found.set(reference.to, [...(found.get(reference.to) ?? []), { ...reference, from }]);
  return found;
}

/** A write after which the object exists. */
export type Written = {
  readonly name: string;
  readonly declared: number | undefined;
  readonly isFence: boolean;
  readonly row: { readonly declared: number | undefined } | undefined;
};

/**
 * The changes of the declarations by one batch of events. `Declarations.keep` applies the changes after the commit.
 */
export class DeclarationsBatch {
  readonly declared = new Map<TypeKey, Declared>();
  /** By type: the names of the indexes that are or were unique. Contains only types that gain a name in the batch. */
  readonly onceUnique = new Map<TypeKey, ReadonlySet<string>>();
  readonly late: LateWrite[] = [];
  readonly #known: DeclarationTables;

  constructor(known: DeclarationTables) {
    this.#known = known;
  }

  recordValues(type: TypeKey, values: readonly Pick<HeldValue, 'index'>[]): void {
    for (const { index } of values) {
      const names = this.onceUnique.get(type) ?? this.#known.onceUnique.get(type) ?? none;
      if (!names.has(index)) this.onceUnique.set(type, new Set([...names, index]));
    }
  }

  /**
   * Records the declaration of a type. If the type has no objects (`isEmpty`), uniqueness is enforced at once, because
   * no object can have an unclaimed value.
   */
  declare(
    type: TypeKey,
    { revision, declaration }: Pick<Declared, 'revision' | 'declaration'>,
    isEmpty: boolean,
  ): void {
    const before = this.#standing(type);
    const was = (index: string, keys?: string): boolean =>
      before?.declaration.unique.some((other) => other.index === index && (keys ?? other.keys) === other.keys) === true;
    const of = (make: (index: string, keys: string) => number | undefined): Record<string, number> => {
      const made = declaration.unique.map(({ index, keys }) => [index, make(index, keys)] as const);
      return Object.fromEntries(made.filter((each): each is readonly [string, number] => each[1] !== undefined));
    };
    const since = of((index, keys) => (was(index, keys) ? (before?.since[index] ?? revision) : revision));
    const always = of((index) => (was(index) ? (before?.always[index] ?? revision) : revision));
    const enforced = of((index, keys) => {
      const remainsEnforced = before !== undefined && was(index, keys) && isEnforced(before, index);
      return isEmpty || remainsEnforced ? since[index] : undefined;
    });
    this.declared.set(type, { revision, declaration, since, always, enforced, late: 0 });
    this.recordValues(type, declaration.unique);
  }

  enforce(type: TypeKey, { declared, late, indexes }: UniquenessEvent): void {
    const standing = this.#standing(type);
    // Ignores an enforcement that another declaration or a later write has made outdated: the index may have an
    // unclaimed value.
    if (standing?.revision !== declared || standing.late !== late) return;
    const enforced = indexes.flatMap((index) => {
      const since = standing.since[index];
      return since === undefined ? [] : [[index, since] as const];
    });
    this.declared.set(type, { ...standing, enforced: { ...standing.enforced, ...Object.fromEntries(enforced) } });
  }

  /**
   * Whether the type has no declaration, or the event was decided under the latest declaration.
   *
   * `declared`: the revision of the event's declaration; undefined if there was none.
   */
  isCurrent(type: TypeKey, declared: number | undefined): boolean {
    const standing = this.#standing(type);
    return standing === undefined || (declared ?? -1) >= standing.revision;
  }

  /** A write that was decided before an index became unique ends the enforcement of this index. */
  recordWrite(type: TypeKey, { name, declared, isFence, row }: Written): void {
    const standing = this.#standing(type);
    if (standing === undefined || this.isCurrent(type, declared)) return;
    const decided = declared ?? -1;
    const older = Object.keys(standing.since).filter((index) => decided < (standing.since[index] ?? 0));
    // A fence under the declaration of the row repeats values that were already counted.
    if (older.length === 0 || (isFence && row !== undefined && row.declared === declared)) return;
    const enforcedOlder = older.filter((index) => isEnforced(standing, index));
    if (enforcedOlder.length > 0) this.late.push({ type, name, declared, indexes: enforcedOlder });
    const enforced = Object.fromEntries(
      Object.entries(standing.enforced).filter(([index]) => !enforcedOlder.includes(index)),
    );
    this.declared.set(type, { ...standing, enforced, late: standing.late + 1 });
  }

  #standing(type: TypeKey): Declared | undefined {
    return this.declared.get(type) ?? this.#known.declared.get(type);
  }

  write(writer: Pick<Writer, 'putOnceUnique' | 'putDeclared'>): void {
    for (const [type, names] of this.onceUnique) writer.putOnceUnique(type, [...names]);
    for (const [type, last] of this.declared) writer.putDeclared(type, last);
  }
}
