import type { ResourceType } from '../resource/type/resource-type.ts';
import { qualifierOf, type UniqueNames } from './names.ts';
import type { Operation } from './operation.ts';
import { operationsOf, type Described } from './type-operations.ts';

/**
 * The maximum number of cached variants per type. A variant has other operation ids than those of `operationsOf`,
 * because another type of the document already uses one of the ids.
 */
const variantsMax = 2;

type Kept = {
  readonly wanted: readonly Operation[];
  /** The operations by their joined ids, oldest first. */
  readonly variants: Map<string, readonly Operation[]>;
};

/**
 * Caches the operations of types. While the operations are cached, the result for a type and its ids is the same
 * object.
 */
export class TypeOperations {
  readonly #described: Described;
  readonly #kept = new WeakMap<ResourceType, Kept>();

  constructor(described: Described) {
    this.#described = described;
  }

  /**
   * Returns a type's operations with ids that are unique in the document, and adds the ids to `ids`. `ids` contains the
   * ids that the document already uses.
   */
  of(type: ResourceType, ids: UniqueNames): readonly Operation[] {
    const { wanted, variants } = this.#keptOf(type);
    const qualifier = qualifierOf(type);
    const drawn = wanted.map(({ operationId }) => ids.take(operationId, qualifier));
    if (wanted.every(({ operationId }, index) => operationId === drawn[index])) return wanted;
    const key = drawn.join();
    const known = variants.get(key);
    if (known !== undefined) return known;
    const made = wanted.map((operation, index) => ({ ...operation, operationId: drawn[index] ?? '' }));
    const [oldest] = variants.keys();
    if (oldest !== undefined && variants.size >= variantsMax) variants.delete(oldest);
    variants.set(key, made);
    return made;
  }

  #keptOf(type: ResourceType): Kept {
    const known = this.#kept.get(type);
    if (known !== undefined) return known;
    const kept = { wanted: operationsOf(type, this.#described), variants: new Map() };
    this.#kept.set(type, kept);
    return kept;
  }
}
