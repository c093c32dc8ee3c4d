import { parentPort } from 'node:worker_threads';

import { jsonDepthMax, requestBodyBytesMax } from '../../limits/requests.ts';
import { decodeYaml } from './decode-yaml.ts';

/** The answer to one body: its value as JSON text, or a problem. */
export type ReadYaml = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly detail: string };

export const yamlWorkerUrl: string = import.meta.url;

parentPort?.on('message', (bytes: Uint8Array) => {
  const decoded = decodeYaml(bytes, { depthMax: jsonDepthMax, lengthMax: requestBodyBytesMax });
  parentPort?.postMessage(decoded.ok ? withinBody(JSON.stringify(decoded.value)) : decoded);
});

/**
 * Refuses JSON that is longer than a JSON body may be, since the event loop decodes it. Escapes can make a short text
 * long.
 */
function withinBody(json: string): ReadYaml {
  return Buffer.byteLength(json) <= requestBodyBytesMax
    ? { ok: true, json }
    : { ok: false, detail: `as JSON it has more than ${String(requestBodyBytesMax)} bytes` };
}
