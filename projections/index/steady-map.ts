/** The number of keys in the first map, and the number of maps for further keys. */
const firstMax = 4_096;
const parts = 256;

/**
 * A map that never copies all of its contents in one step. A `Map` with a million keys takes some hundred milliseconds
 * to double, so `SteadyMap` distributes the keys over many maps.
 */
export class SteadyMap<Value extends object | number> {
  readonly #first = new Map<string | number, Value>();
  #others: Map<string | number, Value>[] | undefined;

  get(key: string | number): Value | undefined {
    const found = this.#first.get(key);
    return found !== undefined || this.#others === undefined ? found : this.#others[partOf(key)]?.get(key);
  }

  /** Adds a key that the map does not contain. */
  add(key: string | number, value: Value): void {
    if (this.#first.size < firstMax) {
      this.#first.set(key, value);
      return;
    }
    this.#others ??= Array.from({ length: parts }, () => new Map<string | number, Value>());
    this.#others[partOf(key)]?.set(key, value);
  }
}

function partOf(key: string | number): number {
  return (typeof key === 'number' ? numberHash(key) : textHash(key)) >>> 24;
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

function numberHash(number: number): number {
  // Converts minus zero to zero, since both are the same key of a `Map`.
  double[0] = number + 0;
  return Math.imul(Math.imul(words[0] ?? 0, 0x9e3779b1) ^ (words[1] ?? 0), 0x85ebca6b);
}

/** The number of characters that are hashed at each end of a text, since long texts usually differ at their ends. */
const hashedCharacters = 32;

function textHash(text: string): number {
  let hash = text.length;
  const head = Math.min(text.length, hashedCharacters);
  for (let at = 0; at < head; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  for (let at = Math.max(head, text.length - hashedCharacters); at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
}
