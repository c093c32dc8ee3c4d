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
  const budget = { left: hookValuesMax };
  return copyOf(value, given, { pointer: '', depth: 0, budget });
}

type At = {
  readonly pointer: string;
  readonly depth: number;
  readonly budget: { left: number };
};

function copyOf(value: unknown, given: unknown, at: At): unknown {
  if (value === given || isScalar(value)) return value;
  at.budget.left -= 1;
  if (at.budget.left < 0) throw refused(at, `has more than ${String(hookValuesMax)} values`);
  if (at.depth > jsonDepthMax) throw refused(at, `nests deeper than ${String(jsonDepthMax)} levels`);
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
  return value.map((item, index) => copyOf(item, before[index], below(at, String(index))));
}

function copyOfObject(value: object, given: unknown, at: At): unknown {
  const before = new Map<string, unknown>(typeof given === 'object' && given !== null ? Object.entries(given) : []);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (entries.some(([member]) => member === '__proto__')) throw refused(at, 'has a member "__proto__"');
  return Object.fromEntries(
    entries.map(([member, inner]) => [member, copyOf(inner, before.get(member), below(at, member))]),
  );
}

function below({ pointer, depth, budget }: At, member: string): At {
  return { pointer: `${pointer}/${escapeToken(member)}`, depth: depth + 1, budget };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function refused({ pointer }: At, problem: string): ForeignValueError {
  return new ForeignValueError(`${pointer === '' ? 'it' : pointer} ${problem}`);
}
