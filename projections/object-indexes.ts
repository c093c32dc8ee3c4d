import type { BuildProgress, Unindexed } from '../src/read/index-build.ts';
import type { Clock } from '../src/base/clock.ts';
import { Slices } from '../src/base/slices.ts';
import { NotServedError, type Change } from '../src/read/objects.ts';
import type { IndexKey, TypeKey } from '../src/resource/type/index-entry.ts';
import type { ResourceType } from '../src/resource/type/resource-type.ts';
import { buildIndex, IndexCatchUp } from './index/index-build.ts';
import type { LmdbTables } from './lmdb-tables.ts';
import type { TypeIndex } from './index/type-index.ts';

/** The indexes of a type: being built while the fold continues, or ready. */
type Indexed =
  | { readonly state: 'building'; readonly catchUp: IndexCatchUp }
  | { readonly state: 'ready'; readonly index: TypeIndex; readonly type: ResourceType };

export type ReadyIndex = {
  readonly type: ResourceType;
  readonly index: TypeIndex;
};

/** Called after a build of indexes in which an index function failed for stored objects. */
export type OnUnindexed = (type: ResourceType, unindexed: Unindexed) => void;

type Dependencies = {
  readonly tables: LmdbTables;
  readonly clock: Clock;
  readonly onUnindexed?: OnUnindexed;
};

type IndexStates = {
  readonly ready: readonly ReadyIndex[];
  readonly building: readonly TypeKey[];
};

/** The indexes of each type, built from the type's rows and updated by the fold. */
export class ObjectIndexes {
  readonly #tables: LmdbTables;
  readonly #clock: Clock;
  readonly #onUnindexed: OnUnindexed | undefined;
  /** The indexes of the types for which `build` was called. */
  readonly #indexes = new Map<TypeKey, Indexed>();

  constructor({ tables, clock, onUnindexed }: Dependencies) {
    this.#tables = tables;
    this.#clock = clock;
    this.#onUnindexed = onUnindexed;
  }

  /** @throws NotServedError if the indexes of the type are not built. */
  ready(type: TypeKey): TypeIndex {
    const indexed = this.#indexes.get(type);
    if (indexed?.state !== 'ready') throw new NotServedError(type);
    return indexed.index;
  }

  /**
   * The name of the object with a unique value. Undefined if no object has the value, the indexes are not ready, or the
   * indexes belong to another declaration of the type.
   */
  holderOf(type: Pick<ResourceType, 'key' | 'fingerprint'>, index: number, key: IndexKey): string | undefined {
    const indexed = this.#indexes.get(type.key);
    return indexed?.state === 'ready' && indexed.type.fingerprint === type.fingerprint
      ? indexed.index.has(index, key)
      : undefined;
  }

  /**
   * Builds the indexes of a type in slices, while the fold continues. Resolves when lists can use the indexes, or when
   * the build was cancelled. The result counts the objects for which an index function failed.
   */
  async build(type: ResourceType, onProgress?: BuildProgress): Promise<Unindexed> {
    const catchUp = new IndexCatchUp();
    this.#indexes.set(type.key, { state: 'building', catchUp });
    const unindexed: Unindexed = { count: 0 };
    const isWanted = (): boolean => {
      const building = this.#indexes.get(type.key);
      return building?.state === 'building' && building.catchUp === catchUp;
    };
    const slices = new Slices(this.#clock);
    const index = await buildIndex(type, this.#tables, {
      slices,
      catchUp,
      unindexed,
      onProgress,
      isWanted,
      others: () => this.#indexed(),
    });
    if (index === undefined || !isWanted()) return unindexed;
    while (!catchUp.applyTo(index, () => slices.isOver())) {
      await slices.next();
      if (!isWanted()) return unindexed;
    }
    if (unindexed.count > 0) this.#onUnindexed?.(type, unindexed);
    // The last catch-up and the switch to `ready` run in one turn, so no event is folded in between.
    this.#indexes.set(type.key, { state: 'ready', index, type });
    return unindexed;
  }

  drop(type: TypeKey): void {
    this.#indexes.delete(type);
  }

  /** The number of objects of a type; 0 while its indexes are not ready. */
  count(type: TypeKey): number {
    const indexed = this.#indexes.get(type);
    return indexed?.state === 'ready' ? indexed.index.size : 0;
  }

  states(): IndexStates {
    const all = [...this.#indexes];
    return {
      ready: all.flatMap(([, indexed]) => (indexed.state === 'ready' ? [indexed] : [])),
      building: all.flatMap(([key, { state }]) => (state === 'building' ? [key] : [])),
    };
  }

  apply(change: Change): void {
    const indexed = this.#indexes.get(change.type);
    if (indexed === undefined) return;
    if (indexed.state === 'building') {
      indexed.catchUp.note(change);
      return;
    }
    if (change.after !== undefined) indexed.index.put(change.after);
    else if (change.before !== undefined) indexed.index.remove(change.before);
  }

  /** The number of objects of types with ready indexes. */
  #indexed(): number {
    return [...this.#indexes.keys()].reduce((sum, key) => sum + this.count(key), 0);
  }
}
