import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { JsonObject } from '../../resource/object/object.ts';

/** Decodes the JSON of a stored object. Plugin code chooses the TypeScript type `T`; the value is not checked. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the author names the type
export function asPluginObject<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as T;
}

/**
 * Converts a value from a plugin to a JSON object, as a request over HTTP would. Throws if the result is not an object
 * or is nested too deeply.
 */
export function asJsonObject(value: unknown): JsonObject {
  const text = JSON.stringify(value) as string | undefined;
  const decoded = text === undefined ? undefined : decodeJson(Buffer.from(text), { depthMax: jsonDepthMax });
  if (decoded?.ok !== true || !isObject(decoded.value))
    throw new TypeError(decoded?.ok === false ? decoded.problem.detail : 'the value must be a JSON object');
  return decoded.value;
}
