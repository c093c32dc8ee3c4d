import type { TypeName } from 'ledgerplane/client';

import { typePath, type ServedType } from '../../../server/served-types.ts';

/** Returns the served type for the type name in an event: `<plural>.<group>`, or `<plural>` for the core group. */
export function servedTypeOf(types: readonly ServedType[], name: string): ServedType | undefined {
  const dot = name.indexOf('.');
  const [plural, group] = dot === -1 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  return types.find((type) => type.plural === plural && type.group === group);
}

/** The reverse of `servedTypeOf`. */
export function eventTypeOf({ plural, group }: TypeName): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Returns the address of the history of an object, which also exists for a deleted object. */
export function historyAddress(type: TypeName, name: string): string {
  return `/history/${typePath(type)}/${encodeURIComponent(name)}`;
}

/** Returns the address of the list of a type's objects at a past time. */
export function pastAddress(type: TypeName): string {
  return `/past/${typePath(type)}`;
}
