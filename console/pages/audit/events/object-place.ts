import type { TypeName } from 'ledgerplane/client';

import { typePath, type ServedType } from '../../../server/served-types.ts';

/** Returns the served type with the name `<plural>.<group>` that events have, or `<plural>` of the core group. */
export function servedTypeOf(types: readonly ServedType[], name: string): ServedType | undefined {
  const dot = name.indexOf('.');
  const [plural, group] = dot === -1 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  return types.find((type) => type.plural === plural && type.group === group);
}

/** The reverse of `servedTypeOf`. */
export function eventTypeOf({ plural, group }: TypeName): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The address of the history of an object, which exists for deleted objects too. */
export function historyAddress(type: TypeName, name: string): string {
  return `/history/${typePath(type)}/${encodeURIComponent(name)}`;
}

/** The address of the list of a type's objects in the past. */
export function pastAddress(type: TypeName): string {
  return `/past/${typePath(type)}`;
}
