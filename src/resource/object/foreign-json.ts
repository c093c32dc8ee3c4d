import { jsonDepthMax } from '../../limits/requests.ts';
import { hookValuesMax } from '../../limits/rules.ts';
import { escapeToken } from '../../base/reference-token.ts';

/**
 * The result of plugin code is invalid, for example a value that JSON cannot represent. The message describes the
 * problem and its place in the result.
 */
export class ForeignValueError extends Error {}

/**
 * Returns a copy of a value that plugin code returned, as plain JSON. `given` is the frozen argument of the plugin
 * code. Parts of `given` at the same place in the value are not copied. Members with the value undefined are omitted.
 *
 * @throws ForeignValueError if the value is not JSON, is too large or nests too deeply. Plugin code that runs during
 * the copy, such as a getter, may throw any value.
 */
export function plainJson(value: unknown, given: unknown): unknown {
  return copyOf(value, given, { members: [], left: hookValuesMax });
}

/**
 * `members`: the path to a value in the result, for error messages. `left`: the number of values that may still be
 * copied.
 */
type At = {
  readonly members: (string | number)[];
  left: number;
};

function copyOf(value: unknown, given: unknown, at: At): unknown {
  if (value === given || isScalar(value)) return value;
  at.left -= 1;
  if (at.left < 0) throw refused(at, `has more than ${String(hookValuesMax)} values`);
  if (at.members.length > jsonDepthMax) throw refused(at, `nests deeper than ${String(jsonDepthMax)} levels`);
  if (Array.isArray(value)) return copyOfList(Array.from<unknown>(value), given, at);
  if (typeof value === 'object' && isPlain(value)) return copyOfObject(value, given, at);
  throw refused(
    at,
    `is ${typeof value === 'object' ? 'an object of a class' : `a ${typeof value}`}, which is not JSON`,
  );
}

function isScalar(value: unknown): value is null | string | number | boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function copyOfList(value: readonly unknown[], given: unknown, at: At): unknown {
  const before: readonly unknown[] = Array.isArray(given) ? given : [];
  return value.map((item, index) => copyOfMember(item, before[index], index, at));
}

function copyOfObject(value: object, given: unknown, at: At): unknown {
  const before = isRecord(given) ? given : {};
  const copy: Record<string, unknown> = {};
  for (const [member, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    // An assignment of this member would change the prototype of the copy.
    if (member === '__proto__') throw refused(at, 'has a member "__proto__"');
    const same = Object.hasOwn(before, member) ? before[member] : undefined;
    copy[member] = copyOfMember(inner, same, member, at);
  }
  return copy;
}

function copyOfMember(value: unknown, given: unknown, member: string | number, at: At): unknown {
  if (value === given || isScalar(value)) return value;
  at.members.push(member);
  const copy = copyOf(value, given, at);
  at.members.pop();
  return copy;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function refused({ members }: At, problem: string): ForeignValueError {
  const pointer = members.map((member) => `/${escapeToken(String(member))}`).join('');
  return new ForeignValueError(`${pointer === '' ? 'it' : pointer} ${problem}`);
}
