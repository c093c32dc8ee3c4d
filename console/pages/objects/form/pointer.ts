import { isJsonObject, type Json } from '../object/editable.ts';

/** Returns the pointer of a member or an element. */
export function pointerTo(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the names in a JSON pointer. */
export function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const token of tokensOf(pointer)) {
    if (isList(value)) value = value[Number(token)];
    else if (isJsonObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
  }
  return value;
}

/** Returns a copy of `root` with another value at a pointer. Undefined removes the member or element. */
export function withJsonAt(root: Json | undefined, pointer: string, value: Json | undefined): Json {
  const [first, ...rest] = tokensOf(pointer);
  if (first === undefined) return value ?? null;
  const inner = rest.map((token) => pointerTo('', token)).join('');
  if (isList(root)) {
    const index = Number(first);
    if (inner !== '') return root.with(index, withJsonAt(root[index], inner, value));
    return value === undefined
      ? root.toSpliced(index, 1)
      : index < root.length
        ? root.with(index, value)
        : [...root, value];
  }
  const { [first]: present, ...others } = isJsonObject(root) ? root : {};
  if (inner !== '') return { ...(isJsonObject(root) ? root : {}), [first]: withJsonAt(present, inner, value) };
  return value === undefined ? others : { ...(isJsonObject(root) ? root : {}), [first]: value };
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
