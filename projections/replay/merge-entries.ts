export type KeyedEntry<Key> = {
  readonly key: Key;
  readonly value: Buffer;
};

export type Merged<Key> = {
  readonly key: Key;
  readonly left: Buffer | undefined;
  readonly right: Buffer | undefined;
};

/** Merges the entries of both sides by key. Each side must be sorted by the bytes of its keys. */
export function merged(
  left: Iterable<KeyedEntry<string>>,
  right: Iterable<KeyedEntry<string>>,
): Generator<Merged<string>, undefined> {
  return mergedBy(compareTexts, left, right);
}

export function* mergedBy<Key>(
  compare: (one: Key, other: Key) => number,
  left: Iterable<KeyedEntry<Key>>,
  right: Iterable<KeyedEntry<Key>>,
): Generator<Merged<Key>, undefined> {
  const [lefts, rights] = [new Side(left), new Side(right)];
  try {
    for (;;) {
      const next = lefts.next ?? rights.next;
      if (next === undefined) return;
      const order =
        lefts.next === undefined ? 1 : rights.next === undefined ? -1 : compare(lefts.next.key, rights.next.key);
      const key = order <= 0 ? next.key : (rights.next ?? next).key;
      yield {
        key,
        left: order <= 0 ? lefts.take() : undefined,
        right: order >= 0 ? rights.take() : undefined,
      };
    }
  } finally {
    lefts.end();
    rights.end();
  }
}

function compareTexts(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The entries of one side, and the next entry of this side. */
class Side<Key> {
  readonly #entries: Iterator<KeyedEntry<Key>, unknown>;
  #next: KeyedEntry<Key> | undefined;

  constructor(entries: Iterable<KeyedEntry<Key>>) {
    this.#entries = entries[Symbol.iterator]();
    this.take();
  }

  get next(): KeyedEntry<Key> | undefined {
    return this.#next;
  }

  take(): Buffer | undefined {
    const taken = this.#next?.value;
    const step = this.#entries.next();
    this.#next = step.done === true ? undefined : step.value;
    return taken;
  }

  end(): void {
    this.#entries.return?.();
  }
}
