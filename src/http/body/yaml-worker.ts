import { parentPort } from 'node:worker_threads';

import { jsonDepthMax, requestBodyBytesMax } from '../../limits/requests.ts';
import { decodeYaml } from './decode-yaml.ts';

/** The value of a body as JSON text, or its problem. */
export type ReadYaml = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly detail: string };

export const yamlWorkerUrl: string = import.meta.url;

parentPort?.on('message', (bytes: Uint8Array) => {
  const decoded = decodeYaml(bytes, { depthMax: jsonDepthMax, lengthMax: requestBodyBytesMax });
  parentPort?.postMessage(decoded.ok ? withinBody(JSON.stringify(decoded.value)) : decoded);
});

/**
 * Refuses a value if its JSON is longer than a JSON body may be. The main thread decodes the JSON in one turn. Escapes
 * can make the JSON of a short text long.
 */
function withinBody(json: string): ReadYaml {
  return Buffer.byteLength(json) <= requestBodyBytesMax
    ? { ok: true, json }
    : { ok: false, detail: `the body has more than ${String(requestBodyBytesMax)} bytes as JSON` };
}
