import { isJsonObject, type Json, type JsonObject } from './editable.ts';

/** A member that both sides have changed to different values. A value is undefined if that side removed the member. */
export type Conflict = {
  /** The JSON pointer of the member. */
  readonly pointer: string;
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
};

export type Merge = {
  /** The changes of both sides. A member with a conflict has the value of `mine`. */
  readonly merged: JsonObject;
  readonly conflicts: readonly Conflict[];
};

/**
 * Merges two changed copies of `base`. A member that only one side changed gets the value of this side. Objects are
 * merged by member; arrays and scalars are merged as a whole.
 */
export function mergeChanges(base: JsonObject, mine: JsonObject, theirs: JsonObject): Merge {
  const conflicts: Conflict[] = [];
  const merged = mergeObjects({ base, mine, theirs }, '', conflicts);
  return { merged, conflicts };
}

type Sides<T> = { readonly base: T; readonly mine: T; readonly theirs: T };

function mergeObjects({ base, mine, theirs }: Sides<JsonObject>, at: string, conflicts: Conflict[]): JsonObject {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const members = [...names].flatMap((name) => {
    const sides = { base: base[name], mine: mine[name], theirs: theirs[name] };
    const value = mergeValues(sides, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, conflicts);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

function mergeValues(sides: Sides<Json | undefined>, at: string, conflicts: Conflict[]): Json | undefined {
  const { base, mine, theirs } = sides;
  if (isEqual(mine, theirs) || isEqual(base, theirs)) return mine;
  if (isEqual(base, mine)) return theirs;
  if (isJsonObject(mine) && isJsonObject(theirs))
    return mergeObjects({ base: isJsonObject(base) ? base : {}, mine, theirs }, at, conflicts);
  conflicts.push({ pointer: at, mine, theirs });
  return mine;
}

/** Returns whether two JSON values are equal, independent of the order of members. */
export function isEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((value: Json, index) => isEqual(value, elementOf(right, index)));
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isEqual(left[name], right[name]));
}

function elementOf(values: readonly Json[], index: number): Json | undefined {
  return values[index];
}
