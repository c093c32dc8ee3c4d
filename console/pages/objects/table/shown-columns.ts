import type { TypeSchema } from '../../../server/type-schema.ts';
import type { Column } from './table-answer.ts';

export type ShownColumn = {
  readonly column: Column;
  /** The index of the column's value in the cells of a row. */
  readonly place: number;
  /** The field to sort by; undefined if lists cannot be sorted by this column. */
  readonly field: string | undefined;
};

/** The fields of the columns that every type has. */
const standardFields: Readonly<Record<string, string>> = {
  Name: 'metadata.name',
  Age: 'metadata.creationTimestamp',
};

/**
 * Returns the columns to show: the chosen columns, or by default the columns with the priority 0. The name is always
 * shown.
 */
export function shownColumns(
  columns: readonly Column[],
  declared: TypeSchema['columns'],
  { chosen, fields }: { readonly chosen: readonly string[] | undefined; readonly fields: readonly string[] },
): readonly ShownColumn[] {
  const fieldOf = ({ name }: Column): string | undefined => {
    const pointer = declared.find((each) => each.name === name)?.pointer;
    const field = pointer === undefined ? standardFields[name] : pointer.slice(1).replaceAll('/', '.');
    return field !== undefined && fields.includes(field) ? field : undefined;
  };
  return columns
    .map((column, place) => ({ column, place, field: fieldOf(column) }))
    .filter(
      ({ column: { name, priority }, place }) =>
        place === 0 || (chosen === undefined ? priority === 0 : chosen.includes(name)),
    );
}
