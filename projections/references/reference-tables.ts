import type { Referrer, ReferenceFrom, ReferrerPage } from '../../src/read/references/reference-reader.ts';
import type { HeldReference } from '../../src/resource/references/named-targets.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';

type Range = {
  readonly start: string;
  readonly end: string;
  readonly limit: number;
};

export type TextTable = {
  get(key: string): string | undefined;
  getRange(range: Range): Iterable<{ readonly key: string; readonly value: string }>;
  getKeys(range: Range): Iterable<string>;
  putSync(key: string, value: string): void;
  removeSync(key: string): boolean;
};

/**
 * The references of objects in both directions, as one table:
 *
 * - `from <type>/<name>` → the references of the object, as JSON;
 * - `to <target> <field> <type>/<name>` → the uid of the target when the reference was decided; empty without a target.
 *
 * Names, fields and keys of types contain no space.
 */
export class ReferenceTables {
  readonly #table: TextTable;

  constructor(table: TextTable) {
    this.#table = table;
  }

  of(type: TypeKey, name: string): readonly HeldReference[] {
    return decoded(this.#table.get(fromKey(type, name)));
  }

  /** Replaces the references of an object. Must run in the transaction that writes the object's row. */
  put(type: TypeKey, name: string, refs: readonly HeldReference[]): void {
    const key = fromKey(type, name);
    const [before, after] = [this.#table.get(key), refs.length === 0 ? undefined : JSON.stringify(refs)];
    if (before === after) return;
    for (const ref of decoded(before)) this.#table.removeSync(toKey(ref, type, name));
    for (const ref of refs) this.#table.putSync(toKey(ref, type, name), ref.uid ?? '');
    if (after === undefined) this.#table.removeSync(key);
    else this.#table.putSync(key, after);
  }

  referrers(
    target: string,
    { from, field }: Pick<ReferenceFrom, 'from' | 'field'>,
    page: ReferrerPage,
  ): readonly Referrer[] {
    const prefix = `to ${target} ${field} ${from}/`;
    return [...this.#table.getRange(range(prefix, page))].map(({ key, value }) => ({
      type: from,
      name: key.slice(prefix.length),
      uid: value === '' ? undefined : value,
    }));
  }

  referring(type: TypeKey, page: ReferrerPage): readonly string[] {
    const prefix = fromKey(type, '');
    return [...this.#table.getKeys(range(prefix, page))].map((key) => key.slice(prefix.length));
  }
}

export function range(prefix: string, { after, limit }: ReferrerPage): Range {
  return {
    start: after === undefined ? prefix : `${prefix}${after}\u0001`,
    end: `${prefix}\uffff`,
    limit,
  };
}

function decoded(text: string | undefined): readonly HeldReference[] {
  return text === undefined ? [] : (JSON.parse(text) as readonly HeldReference[]);
}

function fromKey(type: TypeKey, name: string): string {
  return `from ${type}/${name}`;
}

function toKey({ target, field }: HeldReference, type: TypeKey, name: string): string {
  return `to ${target} ${field} ${type}/${name}`;
}
