/** What a table of permissions holds, for comparisons. Values are JSON, maps and sets. */
export type TableContents = {
  readonly table: string;
  readonly entries: Pick<ReadonlyMap<string, unknown>, 'size' | 'keys' | 'get'>;
};

/** The table with only the compared part of each value. */
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
