import type { ResourceType } from '../../resource/type/resource-type.ts';
import { MetadataOnly } from './metadata-only.ts';
import type { Negotiated } from './negotiate.ts';
import { Table } from './table.ts';
import type { Representation } from './representation.ts';

/** Returns the representation of a type's objects in a form; undefined for plain objects. */
export function representationOf(
  type: ResourceType,
  { shape, version, include }: Negotiated,
): Representation | undefined {
  if (shape === 'object') return undefined;
  const name = `${shape};${version};${include}`;
  const made = representations.get(type) ?? new Map<string, Representation>();
  representations.set(type, made);
  const present = made.get(name);
  if (present !== undefined) return present;
  const fresh = shape === 'table' ? new Table(name, type, { version, include }) : new MetadataOnly(name, version);
  made.set(name, fresh);
  return fresh;
}

const representations = new WeakMap<ResourceType, Map<string, Representation>>();
