import { isObject } from '../../base/guards.ts';
import type { ScalePointers } from '../type/resource-type.ts';
import { valueAt } from './json-pointer.ts';
import { unescapeToken } from '../../base/reference-token.ts';
import type { JsonObject, JsonValue } from './object.ts';

/**
 * Returns an object as `autoscaling/v1 Scale`. A number of replicas that is absent, negative or not a whole number
 * becomes 0.
 */
export function scaleOf(shown: JsonObject, pointers: ScalePointers): JsonObject {
  const selector = pointers.labelSelector === undefined ? undefined : valueAt(shown, pointers.labelSelector);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: identityOf(shown['metadata']),
    spec: { replicas: replicasAt(shown, pointers.specReplicas) },
    status: {
      replicas: replicasAt(shown, pointers.statusReplicas),
      ...(typeof selector === 'string' ? { selector } : {}),
    },
  };
}

/** Returns the Scale as bytes, computed from the bytes of an object's response. */
export function scaleBytes(answer: Uint8Array, pointers: ScalePointers): Buffer {
  const text = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8');
  return Buffer.from(JSON.stringify(scaleOf(JSON.parse(text) as JsonObject, pointers)));
}

/**
 * Returns the number of replicas that a Scale requests; 0 if the number is absent, because Go clients omit the number
 * 0.
 */
export function wantedReplicas(members: Readonly<Record<string, unknown>>): number {
  return replicasAt(members, '/spec/replicas');
}

/**
 * Returns a copy of the object with the value `set` at the pointer. Missing objects on the path are created. Returns
 * undefined if the path contains a value that is not an object or array, or a missing array element.
 */
export function withValueAt(value: JsonValue | undefined, pointer: string, set: JsonValue): JsonValue | undefined {
  const [, token, ...rest] = pointer.split('/');
  if (token === undefined) return set;
  const member = unescapeToken(token);
  const below = ['', ...rest].join('/');
  if (Array.isArray(value)) {
    const elements: readonly JsonValue[] = value;
    const place = Number(member);
    const changed = Object.hasOwn(elements, member) ? withValueAt(elements[place], below, set) : undefined;
    return changed === undefined ? undefined : elements.with(place, changed);
  }
  if (value !== undefined && !isObject(value)) return undefined;
  const changed = withValueAt(
    value !== undefined && Object.hasOwn(value, member) ? value[member] : undefined,
    below,
    set,
  );
  return changed === undefined ? undefined : { ...value, [member]: changed };
}

function replicasAt(root: unknown, pointer: string): number {
  const value = valueAt(root, pointer);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

const identity: ReadonlySet<string> = new Set(['name', 'uid', 'version', 'resourceVersion', 'creationTimestamp']);

function identityOf(metadata: JsonValue | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(isObject(metadata) ? metadata : {}).filter(([member]) => identity.has(member)),
  );
}
