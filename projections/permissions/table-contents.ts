/** The contents of one permission table, for comparisons. Values are JSON, maps and sets. */
export type TableContents = {
  readonly table: string;
  readonly entries: Pick<ReadonlyMap<string, unknown>, 'size' | 'keys' | 'get'>;
};

/** Shows only the compared part of each value of a table. */
export function viewed<Value>(
  table: ReadonlyMap<string, Value>,
  part: (value: Value) => unknown,
): TableContents['entries'] {
  return {
    get size() {
      return table.size;
    },
    keys: () => table.keys(),
    get: (key) => {
      const value = table.get(key);
      return value === undefined ? undefined : part(value);
    },
  };
}
