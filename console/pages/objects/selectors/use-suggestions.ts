import { ClientError } from 'ledgerplane/client';

import type { ServedType } from '../../../server/served-types.ts';
import type { TypeSchema } from '../../../server/type-schema.ts';
import { useServer } from '../../../server/use-server.ts';
import { fieldOf, isSchema } from '../form/field-kind.ts';
import { pointerTo } from '../form/pointer.ts';
import type { Row } from '../table/table-answer.ts';
import { fieldValues } from './field-values.ts';
import type { KnownLabels } from './known-labels.ts';
import type { SelectorPart } from './selector-part.ts';

/** Returns suggestions for a part of a selector: keys or values. */
export type Suggest = (part: SelectorPart, signal: AbortSignal) => Promise<readonly string[]>;

/** Suggests the labels of the rows that were read. */
export function useLabelSuggestions(known: KnownLabels, rows: () => Iterable<Row>): Suggest {
  // eslint-disable-next-line @typescript-eslint/require-await -- suggestions of fields are read from the server
  return async ({ kind, key, typed }) => {
    known.learn(rows());
    return matching(kind === 'key' ? known.keys() : known.valuesOf(key), typed);
  };
}

/** Suggests indexed fields, and their values on the server. */
export function useFieldSuggestions(type: () => ServedType, schema: () => TypeSchema | null | undefined): Suggest {
  const { client } = useServer();
  return async ({ kind, key, typed }, signal) => {
    const found = schema();
    if (found === null || found === undefined) return [];
    if (kind === 'key') return matching(found.fields, typed);
    if (!found.fields.includes(key)) return [];
    const pointer = key.split('.').reduce(pointerTo, '');
    const wanted = { field: key, pointer, prefix: typed, isText: isTextField(found, key), signal };
    try {
      return await fieldValues(client, type(), wanted);
    } catch (error) {
      // A field without such comparisons has no suggestions. The selector itself is checked when it takes effect.
      if (error instanceof ClientError) return [];
      throw error;
    }
  };
}

function matching(values: readonly string[], typed: string): readonly string[] {
  const text = typed.toLowerCase();
  const found = values.filter((value) => value.toLowerCase().includes(text));
  return found.toSorted((left, right) => rankOf(left, text) - rankOf(right, text)).slice(0, shownMax);
}

const shownMax = 50;

function rankOf(value: string, text: string): number {
  return value.toLowerCase().startsWith(text) ? 0 : 1;
}

function isTextField({ schema, components }: TypeSchema, field: string): boolean {
  if (field === 'metadata.name') return true;
  let at = schema;
  for (const name of field.split('.')) {
    const { properties } = fieldOf(at, components, undefined).schema;
    const member = isSchema(properties) ? properties[name] : undefined;
    if (!isSchema(member)) return false;
    at = member;
  }
  const { schema: leaf } = fieldOf(at, components, undefined);
  const { type, enum: values, items } = leaf;
  const element = type === 'array' && isSchema(items) ? fieldOf(items, components, undefined).schema['type'] : type;
  return element === 'string' || (element === undefined && Array.isArray(values));
}
