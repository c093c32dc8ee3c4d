import { isObject } from '../../../base/guards.ts';
import { must } from '../../../base/unreachable.ts';
import { objectBytesMax } from '../../../limits/objects.ts';
import { frozen } from '../../type/index-values.ts';
import type { Schema } from '../schema-check.ts';
import { isNullable, leadingTo, type Place, type SchemaGraph } from '../structural.ts';
import {
  fillAll,
  fillOf,
  type ArraySlots,
  type Fallback,
  type Fill,
  type ObjectSlots,
  type Slot,
} from './default-fill.ts';

/** A default contains itself: a member of the default has the same default. */
export class EndlessDefaultError extends Error {}

export function hasDefault(schema: Schema): boolean {
  return Object.hasOwn(schema, 'default');
}

/**
 * Creates the functions that fill in the defaults of a schema. A place in the schema has a function only if there is a
 * default below the place.
 */
export class DefaultFills {
  readonly #graph: SchemaGraph;
  /** Schemas with a default below them. */
  readonly #leading: ReadonlySet<Schema>;
  /** By schema: the function for this schema alone, without the other schemas that apply to the same value. */
  readonly #fills = new Map<Schema, Fill>();
  /** The schemas of the defaults that are being computed, to detect a default that contains itself. */
  readonly #completing = new Set<Schema>();

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
    this.#leading = leadingTo(graph, hasDefault);
  }

  /**
   * Returns the function that fills in the defaults below the place; undefined if there is no default below the place.
   */
  fillOf(place: Place): Fill | undefined {
    return fillAll(
      this.#graph
        .conjuncts(place)
        .filter(({ schema }) => this.#leading.has(schema))
        .map((conjunct) => this.#ownFill(conjunct)),
    );
  }

  /** Whether there is a default at the place or below. */
  isFilled(place: Place): boolean {
    return this.#isDefaulted(place) || this.fillOf(place) !== undefined;
  }

  /**
   * Returns the default at a place, with the defaults of its own members; undefined without a default.
   *
   * @throws EndlessDefaultError if the default contains itself.
   */
  fallbackOf(place: Place): Fallback | undefined {
    const declaring = this.#graph.conjuncts(place).find(({ schema }) => hasDefault(schema));
    if (declaring === undefined) return undefined;
    if (this.#completing.has(place.schema)) throw new EndlessDefaultError();
    this.#completing.add(place.schema);
    try {
      const declared = declaring.schema['default'];
      const fill = this.fillOf(place);
      const value = frozen(fill === undefined ? declared : fill(declared, { left: objectBytesMax }));
      return { value, bytes: Buffer.byteLength(JSON.stringify(value)) };
    } finally {
      this.#completing.delete(place.schema);
    }
  }

  #ownFill(place: Place): Fill {
    const present = this.#fills.get(place.schema);
    if (present !== undefined) return present;
    // Stored before the functions of the schema's members are created, because a schema may refer to itself.
    let compiled: Fill | undefined;
    const fill: Fill = (value, budget) => (compiled ??= this.#compile(place))(value, budget);
    this.#fills.set(place.schema, fill);
    return fill;
  }

  #compile(place: Place): Fill {
    return fillOf(this.#objectSlots(place), this.#arraySlots(place));
  }

  #objectSlots(place: Place): ObjectSlots {
    const { properties, patternProperties } = place.schema;
    const names = isObject(properties) ? Object.keys(properties) : [];
    const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    return {
      named: this.#slots(place, 'properties', names),
      declared: new Set(names),
      patterns: patterns.map((source) => [new RegExp(source, 'u'), this.#slot(place, 'patternProperties', source)]),
      additional: this.#slot(place, 'additionalProperties'),
    };
  }

  #arraySlots(place: Place): ArraySlots {
    const { prefixItems } = place.schema;
    const prefix = Array.isArray(prefixItems) ? Array.from<unknown>(prefixItems) : [];
    return {
      prefix: prefix.map((_schema, index) => this.#slot(place, 'prefixItems', index)),
      rest: this.#slot(place, 'items'),
    };
  }

  #slots(place: Place, keyword: string, names: readonly string[]): ObjectSlots['named'] {
    return names.flatMap((name) => {
      const slot = this.#slot(place, keyword, name);
      return slot === undefined ? [] : [[name, slot] as const];
    });
  }

  /** Returns undefined if there is no default at the place or below. */
  #slot(parent: Place, keyword: string, key?: string | number): Slot | undefined {
    const place = this.#graph.inner(parent, keyword, key);
    if (place === undefined || !this.isFilled(place)) return undefined;
    return {
      fallback: this.#isDefaulted(place) ? this.#lazyFallback(place) : undefined,
      isNullable: isNullable(this.#graph.conjuncts(place)),
      fill: this.fillOf(place),
    };
  }

  #isDefaulted(place: Place): boolean {
    return this.#graph.conjuncts(place).some(({ schema }) => hasDefault(schema));
  }

  #lazyFallback(place: Place): () => Fallback {
    let completed: Fallback | undefined;
    return () => (completed ??= must(this.fallbackOf(place), 'the place has a default'));
  }
}
