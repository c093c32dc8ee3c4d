import { isList, isObject } from '../../base/guards.ts';
import { unescapeToken } from '../../base/reference-token.ts';

/** Returns the value at a JSON pointer; undefined if there is no value. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const segment of pointer.split('/').slice(1)) {
    const member = unescapeToken(segment);
    if (isList(value)) value = value[Number(member)];
    else value = isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
  }
  return value;
}
