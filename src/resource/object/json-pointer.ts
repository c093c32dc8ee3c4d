import { isObject } from '../../base/guards.ts';

/** The value at a JSON pointer; undefined if there is none. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const segment of pointer.split('/').slice(1)) {
    const member = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = Array.from<unknown>(value)[Number(member)];
    else value = isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
  }
  return value;
}
