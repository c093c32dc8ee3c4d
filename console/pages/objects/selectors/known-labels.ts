import type { Row } from '../table/table-answer.ts';

const keysMax = 500;
const valuesMax = 200;
/** The maximum number of labels of a row that are collected. */
const labelsMax = 100;

/** The keys and values of the labels of rows that were read. */
export class KnownLabels {
  readonly #values = new Map<string, Set<string>>();

  learn(rows: Iterable<Row>): void {
    for (const { object } of rows)
      for (const [key, value] of Object.entries(object.metadata.labels ?? {}).slice(0, labelsMax)) {
        const values = this.#values.get(key) ?? new Set();
        if (values.size < valuesMax) values.add(value);
        if (this.#values.has(key) || this.#values.size < keysMax) this.#values.set(key, values);
      }
  }

  keys(): readonly string[] {
    return [...this.#values.keys()].toSorted();
  }

  valuesOf(key: string): readonly string[] {
    return [...(this.#values.get(key) ?? [])].toSorted();
  }
}
