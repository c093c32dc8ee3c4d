import type { Json } from '../object/editable.ts';
import type { Field } from './field-kind.ts';

/** The properties of every field. */
export type FieldProps = {
  readonly field: Field;
  readonly value: Json | undefined;
  readonly pointer: string;
  readonly label: string;
  readonly required: boolean;
  /**
   * Whether the value is an element of a list, or an entry with a name that the user chooses. Such a value is not
   * removed when its control is emptied.
   */
  readonly isElement: boolean;
  /** The number of parts of the form that contain the field. */
  readonly depth: number;
};

/** Returns the text of a scalar value for a control; an empty text for an absent value. */
export function shownText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns a text of a schema, such as its description. */
export function textIn(schema: Field['schema'], keyword: string): string | undefined {
  const text = schema[keyword];
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Returns the default of a schema as text; undefined for an object or without a default. */
export function defaultIn(schema: Field['schema']): string | undefined {
  const { default: preset } = schema;
  if (preset === undefined || (typeof preset === 'object' && preset !== null)) return undefined;
  return typeof preset === 'string' ? preset : JSON.stringify(preset);
}
