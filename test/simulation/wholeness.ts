import type { ObjectModels } from '../../projections/object-models.ts';
import type { Change } from '../../src/read/objects.ts';
import { streamOf, type, type World } from './world.ts';

const all = { selection: { labels: [], fields: [] }, sort: [] } as const;

/**
 * What one life of a node publishes: whole appends, no change without the one before it, and rows with their indexes.
 */
export class Wholeness {
  readonly #world: World;
  readonly #node: string;
  readonly #models: ObjectModels;
  /** Where this life began to fold. */
  readonly #start: bigint;
  readonly #published = new Set<string>();

  constructor(world: World, node: string, models: ObjectModels) {
    this.#world = world;
    this.#node = node;
    this.#models = models;
    this.#start = models.position();
  }

  /** `isIndexed`: lists are served. */
  watch(isIndexed: () => boolean): void {
    const { shared, fail } = this.#world;
    this.#models.subscribe(({ changes, position }) => {
      if (shared.at(position)?.endsAppend === false)
        fail(new Error(`${this.#node} shows a part of the append at ${position.toString()}`));
      for (const change of changes) this.#checkPrevious(change);
      if (isIndexed() && changes.length > 0) this.#checkIndexed(changes);
    });
  }

  #checkPrevious({ name, revision }: Change): void {
    const previous = this.#world.history
      .steps(streamOf(name))
      .slice(0, revision)
      .findLast(({ event }) => event.object !== undefined);
    this.#published.add(`${name}@${String(revision)}`);
    if (
      previous === undefined ||
      previous.recorded.position <= this.#start ||
      this.#published.has(`${name}@${String(previous.recorded.revision)}`)
    )
      return;
    this.#world.fail(new Error(`${this.#node} shows ${name}@${String(revision)} and never showed its state before`));
  }

  #checkIndexed(changes: readonly Change[]): void {
    const listed = [...this.#models.pages(type.key, all)].flat();
    for (const { name } of changes) {
      if (listed.includes(name) !== (this.#models.get(type.key, name) !== undefined))
        this.#world.fail(new Error(`${this.#node} tells of ${name} before its indexes know it`));
    }
  }
}
