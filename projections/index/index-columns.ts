import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { IndexValueType } from '../../src/resource/type/resource-type.ts';

/**
 * The keys of one index by ordinal (see `IndexRows`). An object without a value has the key `missing`, which sorts
 * after all other keys.
 *
 * `missing` is Infinity for numbers, since keys are finite. `missing` is U+FFFF for texts, since no text key starts
 * with a character from U+FC00 on (`stringKey`).
 */
export type KeyColumn = {
  readonly missing: IndexKey;
  /** The keys of the object, ascending; empty if the object has no value. */
  keys(ordinal: number): readonly IndexKey[];
  /** The sort key of the object in ascending order. */
  least(ordinal: number): IndexKey;
  /** The sort key of the object in descending order. */
  greatest(ordinal: number): IndexKey;
  /** Compares the sort keys of two objects in ascending order. */
  compare(one: number, other: number): number;
  set(ordinal: number, keys: readonly IndexKey[]): void;
};

export const missingText = '\uffff';
const missingNumber = Infinity;
const none: readonly IndexKey[] = Object.freeze([]);

export function columnFor(type: IndexValueType, multi: boolean): KeyColumn {
  if (multi) return new MultiColumn(type === 'string' ? missingText : missingNumber);
  return type === 'string' ? new TextColumn() : new NumberColumn();
}

export class TextColumn implements KeyColumn {
  readonly missing = missingText;
  readonly #values: string[] = [];

  keys(ordinal: number): readonly IndexKey[] {
    const value = this.least(ordinal);
    return value === missingText ? none : [value];
  }

  least(ordinal: number): string {
    return this.#values[ordinal] ?? missingText;
  }

  greatest(ordinal: number): string {
    return this.#values[ordinal] ?? missingText;
  }

  compare(one: number, other: number): number {
    const a = this.least(one);
    const b = this.least(other);
    return a === b ? 0 : a < b ? -1 : 1;
  }

  set(ordinal: number, keys: readonly IndexKey[]): void {
    this.put(ordinal, String(keys[0] ?? missingText));
  }

  put(ordinal: number, value: string): void {
    // Fills gaps, since a hole would make the engine store the whole array in a slower form.
    while (this.#values.length < ordinal) this.#values.push(missingText);
    if (ordinal === this.#values.length) this.#values.push(value);
    else this.#values[ordinal] = value;
  }
}

export class NumberColumn implements KeyColumn {
  readonly missing = missingNumber;
  #values = new Float64Array(16);

  keys(ordinal: number): readonly IndexKey[] {
    const value = this.least(ordinal);
    return value === missingNumber ? none : [value];
  }

  least(ordinal: number): number {
    return this.#values[ordinal] ?? missingNumber;
  }

  greatest(ordinal: number): number {
    return this.#values[ordinal] ?? missingNumber;
  }

  compare(one: number, other: number): number {
    const a = this.least(one);
    const b = this.least(other);
    return a === b ? 0 : a < b ? -1 : 1;
  }

  set(ordinal: number, keys: readonly IndexKey[]): void {
    this.put(ordinal, Number(keys[0] ?? missingNumber));
  }

  put(ordinal: number, value: number): void {
    if (ordinal >= this.#values.length) {
      const grown = new Float64Array(Math.ceil((ordinal + 1) * 1.5)).fill(missingNumber, this.#values.length);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[ordinal] = value;
  }
}

class MultiColumn implements KeyColumn {
  readonly missing: IndexKey;
  readonly #values: (readonly IndexKey[])[] = [];

  constructor(missing: IndexKey) {
    this.missing = missing;
  }

  keys(ordinal: number): readonly IndexKey[] {
    return this.#values[ordinal] ?? none;
  }

  least(ordinal: number): IndexKey {
    return this.keys(ordinal)[0] ?? this.missing;
  }

  greatest(ordinal: number): IndexKey {
    return this.keys(ordinal).at(-1) ?? this.missing;
  }

  compare(one: number, other: number): number {
    const a = this.least(one);
    const b = this.least(other);
    return a === b ? 0 : a < b ? -1 : 1;
  }

  set(ordinal: number, keys: readonly IndexKey[]): void {
    while (this.#values.length < ordinal) this.#values.push(none);
    this.#values[ordinal] = keys.length === 0 ? none : keys;
  }
}
