import { isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import { jsonPatchOperationsMax, objectBytesMax } from '../../limits/objects.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { JsonValue } from './object.ts';
import { unescapeToken, escapeToken } from '../../base/reference-token.ts';

/** The result of a JSON Patch (RFC 6902). */
export type Patched =
  | { readonly ok: true; readonly document: JsonValue }
  /**
   * `malformed`: the patch is invalid (400). `refused`: the patch cannot be applied (422), for example because a test
   * failed, a path is missing, or a limit is exceeded.
   */
  | { readonly ok: false; readonly problem: 'malformed' | 'refused'; readonly detail: string };

export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const merged: Record<string, JsonValue> = isObject(document) ? { ...document } : {};
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(merged, member);
    else if (member !== forbiddenMember)
      merged[member] = applyMergePatch(Object.hasOwn(merged, member) ? (merged[member] ?? null) : null, value);
  }
  return merged;
}

/** A member that patches must not set, because an assignment to this member would change the prototype. */
const forbiddenMember = '__proto__';

/**
 * A path, split into tokens. The first token is always empty, because `Root.document` contains the whole document as
 * its member with the empty name.
 */
type Path = readonly string[];
type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Path; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: Path }
  | { readonly op: 'move' | 'copy'; readonly path: Path; readonly from: Path };

/**
 * Applies a JSON Patch. All operations modify one copy of the document, so that a patch with a thousand operations does
 * not copy the document a thousand times.
 */
export function applyJsonPatch(document: JsonValue, operations: readonly JsonValue[]): Patched {
  if (operations.length > jsonPatchOperationsMax)
    return refused(
      `a patch must have at most ${String(jsonPatchOperationsMax)} operations, got ${String(operations.length)}`,
    );
  const decoded: Operation[] = [];
  for (const [index, raw] of operations.entries()) {
    const operation = decodeOperation(raw);
    if (typeof operation === 'string')
      return { ok: false, problem: 'malformed', detail: `operation ${String(index)}: ${operation}` };
    decoded.push(operation);
  }
  const root: Root = { document: { '': copyOf(document) }, copiedBytes: 0 };
  for (const [index, operation] of decoded.entries()) {
    const problem = apply(root, operation);
    if (problem !== undefined) return refused(`operation ${String(index)}: ${problem}`);
  }
  const patched = root.document[''];
  if (patched === undefined) return refused('the patch removes the whole document');
  return isDeeper(patched, jsonDepthMax)
    ? refused(`the patched document nests deeper than ${String(jsonDepthMax)} levels`)
    : { ok: true, document: patched };
}

/** The working copy of a document, which operations modify. */
type Mutable = string | number | boolean | null | Mutable[] | { [member: string]: Mutable };

type Root = {
  readonly document: { [member: string]: Mutable };
  /**
   * The bytes of all values that the `copy` operations have copied. Limited, because each operation may double the
   * document.
   */
  copiedBytes: number;
};

/** Applies the operation. Returns the reason if the operation cannot be applied; undefined after success. */
function apply(root: Root, operation: Operation): string | undefined {
  switch (operation.op) {
    case 'add':
      return put(root, operation.path, copyOf(operation.value));
    case 'remove':
      return take(root, operation.path) === undefined ? missing(operation.path) : undefined;
    case 'replace':
      return replace(root, operation.path, copyOf(operation.value));
    case 'test': {
      // As in Kubernetes, a missing value equals null, because clients test for null before they add the first
      // finalizer.
      return deepEqual(valueAt(root, operation.path) ?? null, operation.value)
        ? undefined
        : `test of ${shown(operation.path)} failed`;
    }
    case 'copy':
      return copy(root, operation.from, operation.path);
    case 'move':
      return move(root, operation.from, operation.path);
  }
}

function put(root: Root, path: Path, value: Mutable): string | undefined {
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (isObject(parent) && last !== forbiddenMember) {
    parent[last] = value;
    return undefined;
  }
  if (!isElements(parent)) return missing(path);
  const place = last === '-' ? parent.length : placeOf(last);
  if (place === undefined || place > parent.length) return missing(path);
  parent.splice(place, 0, value);
  return undefined;
}

function replace(root: Root, path: Path, value: Mutable): string | undefined {
  if (valueAt(root, path) === undefined) return missing(path);
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (isObject(parent)) parent[last] = value;
  else if (isElements(parent)) parent[placeOf(last) ?? parent.length] = value;
  return undefined;
}

/** Removes and returns the value at `path`; returns undefined if the path does not exist. */
function take(root: Root, path: Path): Mutable | undefined {
  const value = valueAt(root, path);
  if (value === undefined) return undefined;
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (isObject(parent)) Reflect.deleteProperty(parent, last);
  else if (isElements(parent)) parent.splice(placeOf(last) ?? parent.length, 1);
  return value;
}

function copy(root: Root, from: Path, path: Path): string | undefined {
  const value = valueAt(root, from);
  if (value === undefined) return missing(from);
  if (isDeeper(value, jsonDepthMax)) return `${shown(from)} nests deeper than ${String(jsonDepthMax)} levels`;
  const text = JSON.stringify(value);
  root.copiedBytes += text.length;
  if (root.copiedBytes > objectBytesMax) return `the patch copies more than ${String(objectBytesMax)} bytes`;
  return put(root, path, JSON.parse(text) as Mutable);
}

function move(root: Root, from: Path, path: Path): string | undefined {
  if (path.length > from.length && from.every((token, index) => token === path[index]))
    return `${shown(from)} cannot be moved into itself`;
  const value = take(root, from);
  return value === undefined ? missing(from) : put(root, path, value);
}

function valueAt(root: Root, path: Path): Mutable | undefined {
  let value: Mutable | undefined = root.document;
  for (const token of path) {
    if (isObject(value)) value = Object.hasOwn(value, token) ? value[token] : undefined;
    else if (isElements(value)) value = value[placeOf(token) ?? value.length];
    else return undefined;
  }
  return value;
}

function placeOf(token: string): number | undefined {
  return /^(?:0|[1-9][0-9]*)$/u.test(token) ? Number(token) : undefined;
}

function decodeOperation(raw: JsonValue): Operation | string {
  if (!isObject(raw)) return 'must be an object';
  const { op } = raw as { readonly op?: JsonValue };
  if (typeof op !== 'string' || !isOperationName(op)) return '"op" must be add, remove, replace, move, copy or test';
  const path = pathOf(raw['path']);
  if (path === undefined) return '"path" must be a JSON pointer';
  switch (op) {
    case 'remove':
      return { op, path };
    case 'move':
    case 'copy': {
      const from = pathOf(raw['from']);
      return from === undefined ? '"from" must be a JSON pointer' : { op, path, from };
    }
    default: {
      const { value } = raw as { readonly value?: JsonValue };
      return value === undefined ? '"value" is missing' : { op, path, value };
    }
  }
}

const operationNames: ReadonlySet<string> = new Set<Operation['op']>([
  'add',
  'remove',
  'replace',
  'move',
  'copy',
  'test',
]);

function isOperationName(op: string): op is Operation['op'] {
  return operationNames.has(op);
}

function pathOf(pointer: JsonValue | undefined): Path | undefined {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/')) || /~(?![01])/u.test(pointer))
    return undefined;
  return pointer.split('/').map((token) => unescapeToken(token));
}

function missing(path: Path): string {
  return `${shown(path)} does not exist`;
}

/** The maximum number of characters of a pointer in a message. A pointer may be as long as a request body. */
const shownLengthMax = 128;

function shown(path: Path): string {
  const pointer = path.map((token) => escapeToken(token)).join('/');
  return JSON.stringify(pointer.length > shownLengthMax ? `${pointer.slice(0, shownLengthMax)}…` : pointer);
}

function refused(detail: string): Patched {
  return { ok: false, problem: 'refused', detail };
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values<JsonValue>(value).some((inner) => isDeeper(inner, levels - 1));
}

function isElements(value: Mutable | undefined): value is Mutable[] {
  return Array.isArray(value);
}

function copyOf(value: JsonValue): Mutable {
  return JSON.parse(JSON.stringify(value)) as Mutable;
}
