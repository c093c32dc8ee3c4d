/**
 * The entries of `resourceNames` in a rule. An entry is a name, or a pattern in which one `*` stands for any text. An
 * entry with several `*` matches only its own text.
 */

type Parts = {
  readonly start: string;
  readonly end: string;
};

/** Returns the texts before and after the `*`; undefined for an entry that is not a pattern. */
function partsOf(entry: string): Parts | undefined {
  const star = entry.indexOf('*');
  return star === -1 || entry.includes('*', star + 1)
    ? undefined
    : { start: entry.slice(0, star), end: entry.slice(star + 1) };
}

function fits(name: string, { start, end }: Parts): boolean {
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** The entries of `resourceNames` of one rule, prepared for comparisons. */
export class NameSet {
  readonly #exact: ReadonlySet<string>;
  readonly #patterns: readonly Parts[];

  constructor(entries: readonly string[]) {
    this.#exact = new Set(entries);
    this.#patterns = entries.map(partsOf).filter((parts) => parts !== undefined);
  }

  has(name: string): boolean {
    return this.#exact.has(name) || this.#patterns.some((parts) => fits(name, parts));
  }
}

/** Returns whether the entry `wider` matches every name that the entry `entry` matches. */
export function isNameWithin(entry: string, wider: string): boolean {
  if (entry === wider) return true;
  const outer = partsOf(wider);
  if (outer === undefined) return false;
  const inner = partsOf(entry);
  return inner === undefined
    ? fits(entry, outer)
    : inner.start.startsWith(outer.start) && inner.end.endsWith(outer.end);
}
