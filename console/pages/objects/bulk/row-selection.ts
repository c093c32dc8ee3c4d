import { computed, shallowRef, type ComputedRef } from 'vue';

import type { Row } from '../table/table-answer.ts';
import type { Chosen } from './bulk-run.ts';

/** The maximum number of objects in one bulk action. */
export const chosenMax = 1_000;

/** The chosen rows of a table, by uid. */
export class RowSelection {
  readonly #chosen = shallowRef<ReadonlyMap<string, Chosen>>(new Map());
  readonly objects: ComputedRef<readonly Chosen[]> = computed(() => [...this.#chosen.value.values()]);
  readonly count: ComputedRef<number> = computed(() => this.#chosen.value.size);
  readonly isFull: ComputedRef<boolean> = computed(() => this.#chosen.value.size >= chosenMax);

  has(row: Row): boolean {
    return this.#chosen.value.has(row.object.metadata.uid);
  }

  /** Adds rows, up to the maximum. */
  add(rows: readonly Row[]): void {
    this.addObjects(rows.map(chosenOf));
  }

  addObjects(objects: readonly Chosen[]): void {
    const chosen = new Map(this.#chosen.value);
    for (const object of objects) if (chosen.size < chosenMax) chosen.set(object.uid, object);
    this.#chosen.value = chosen;
  }

  remove(uids: readonly string[]): void {
    if (!uids.some((uid) => this.#chosen.value.has(uid))) return;
    const chosen = new Map(this.#chosen.value);
    for (const uid of uids) chosen.delete(uid);
    this.#chosen.value = chosen;
  }

  clear(): void {
    this.#chosen.value = new Map();
  }
}

export function chosenOf({ object: { metadata } }: Pick<Row, 'object'>): Chosen {
  const { name, uid, resourceVersion, labels = {} } = metadata;
  return { name, uid, resourceVersion, labels };
}
