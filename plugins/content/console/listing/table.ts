import type { ObjectMetadata } from 'ledgerplane/client';

/**
 * The media type of tables (as for kubectl). A table contains only the values of the type's columns, so that a list
 * does not transfer the texts of posts.
 */
export const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

export type Table = {
  readonly total?: number;
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { metadata: ObjectMetadata } }[];
};

export type TableRow = {
  readonly metadata: ObjectMetadata;
  /** Returns the value in a column; null for a missing value. */
  readonly cell: (column: string) => unknown;
};

export function rowsOf(table: Table | undefined): readonly TableRow[] {
  const places = new Map(table?.columnDefinitions.map(({ name }, place) => [name, place]));
  return (table?.rows ?? []).map(({ cells, object: { metadata } }) => ({
    metadata,
    cell: (column) => cells[places.get(column) ?? -1] ?? null,
  }));
}
