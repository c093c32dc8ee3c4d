import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import { isObject } from '../load/manifest.ts';

/** Stored JSON as a plugin's own type of it: the type's schema vouches for what the author declares. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the author names the type; nothing here could infer it
export function asPluginObject<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as T;
}

/** What a plugin hands over, as if it had come over HTTP: members JSON cannot say are dropped as JSON.stringify does. */
export function asJsonObject(value: unknown): JsonObject {
  const text = JSON.stringify(value) as string | undefined;
  const decoded = text === undefined ? undefined : decodeJson(Buffer.from(text), { depthMax: jsonDepthMax });
  if (decoded?.ok !== true || !isObject(decoded.value)) throw new TypeError(decoded?.ok === false ? decoded.problem.detail : 'must be an object');
  return decoded.value;
}
