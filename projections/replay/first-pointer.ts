import { isObject } from '../../src/base/guards.ts';
import { deepEqual } from '../../src/base/json.ts';
import { escapeToken } from '../../src/base/reference-token.ts';

/**
 * The JSON pointer (RFC 6901) of the first member that differs between two JSON texts. Undefined if one text is not
 * JSON, or if both have the same value.
 */
export function firstPointer(one: Uint8Array, other: Uint8Array): string | undefined {
  const [left, right] = [parsed(one), parsed(other)];
  return left === undefined || right === undefined ? undefined : pointerIn(left.value, right.value);
}

function pointerIn(one: unknown, other: unknown): string | undefined {
  if (deepEqual(one, other)) return undefined;
  if (!isObject(one) || !isObject(other)) return '';
  for (const member of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const inner = pointerIn(one[member], other[member]);
    if (inner !== undefined) return `/${escapeToken(member)}${inner}`;
  }
  return '';
}

function parsed(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return { value };
  } catch {
    return undefined;
  }
}
