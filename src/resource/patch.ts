import patchLibrary, { type Operation } from 'fast-json-patch';
import { jsonPatchOperationsMax, objectBytesMax } from '../limits.ts';
import type { JsonObject, JsonValue } from './object.ts';

/** JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396). Neither touches the document it is given. */
export type Patched =
  | { readonly ok: true; readonly document: JsonValue }
  /** `malformed`: no patch at all (400). `refused`: a failed test, a missing path, growth past the bound (422). */
  | { readonly ok: false; readonly problem: 'malformed' | 'refused'; readonly detail: string };

export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const merged: Record<string, JsonValue> = isObject(document) ? { ...document } : {};
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(merged, member);
    else merged[member] = applyMergePatch(merged[member] ?? null, value);
  }
  return merged;
}

const operationNames = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

export function applyJsonPatch(document: JsonValue, operations: readonly JsonValue[]): Patched {
  if (operations.length > jsonPatchOperationsMax) {
    return { ok: false, problem: 'refused', detail: `a patch holds at most ${String(jsonPatchOperationsMax)} operations, this one ${String(operations.length)}` };
  }
  let current: JsonValue = copyOf(document);
  let copiedBytes = 0;
  for (const [place, raw] of operations.entries()) {
    const malformed = operationProblem(raw);
    if (malformed !== undefined) return { ok: false, problem: 'malformed', detail: `operation ${String(place)}: ${malformed}` };
    // A chain of copies doubles the document each time: bounded before it is done, not after.
    copiedBytes += copiedBy(current, raw);
    if (copiedBytes > objectBytesMax) return { ok: false, problem: 'refused', detail: `operation ${String(place)}: the patch copies more than ${String(objectBytesMax)} bytes` };
    const applied = applyOne(current, raw as unknown as Operation, place);
    if (!applied.ok) return applied;
    current = applied.document;
  }
  return { ok: true, document: current };
}

function applyOne(document: JsonValue, operation: Operation, place: number): Patched {
  try {
    const result = patchLibrary.applyOperation(document, copyOf(operation as unknown as JsonValue) as unknown as Operation, true, true, true, place);
    if (operation.op === 'test' && result.test === false) return { ok: false, problem: 'refused', detail: `operation ${String(place)}: test of ${JSON.stringify(operation.path)} failed` };
    return { ok: true, document: result.newDocument as JsonValue };
  } catch (error) {
    return { ok: false, problem: 'refused', detail: `operation ${String(place)}: ${reasonOf(error, operation)}` };
  }
}

function reasonOf(error: unknown, operation: Operation): string {
  const name = error instanceof Error && 'name' in error ? error.name : '';
  if (name === 'TEST_OPERATION_FAILED') return `test of ${JSON.stringify(operation.path)} failed`;
  if (name.startsWith('OPERATION_') || name.startsWith('SEQUENCE_')) return `${operation.op} at ${JSON.stringify(operation.path)}: ${name.toLowerCase().replaceAll('_', ' ')}`;
  return `${operation.op} at ${JSON.stringify(operation.path)} cannot be applied`;
}

function operationProblem(raw: JsonValue): string | undefined {
  if (!isObject(raw)) return 'must be an object';
  const { op, path, from } = raw as { readonly op?: JsonValue; readonly path?: JsonValue; readonly from?: JsonValue };
  if (typeof op !== 'string' || !operationNames.has(op)) return '"op" must be add, remove, replace, move, copy or test';
  if (typeof path !== 'string' || !isPointer(path)) return '"path" must be a JSON pointer';
  if ((op === 'move' || op === 'copy') && (typeof from !== 'string' || !isPointer(from))) return '"from" must be a JSON pointer';
  if ((op === 'add' || op === 'replace' || op === 'test') && raw['value'] === undefined) return '"value" is missing';
  return undefined;
}

function isPointer(text: string): boolean {
  return text === '' || /^(?:\/(?:[^~/]|~[01])*)+$/u.test(text);
}

function copiedBy(document: JsonValue, operation: JsonValue): number {
  if (!isObject(operation) || operation['op'] !== 'copy' || typeof operation['from'] !== 'string') return 0;
  let value: unknown = document;
  for (const token of operation['from'].split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return 0;
    const member = token.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Object.hasOwn(value, member) ? (value as Readonly<Record<string, unknown>>)[member] : undefined;
  }
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function copyOf(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
