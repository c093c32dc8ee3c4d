import { parentPort } from 'node:worker_threads';

import { jsonDepthMax, requestBodyBytesMax } from '../../limits/requests.ts';
import { decodeYaml } from './decode-yaml.ts';

/** The answer to one body: its value as JSON text, or why there is none. */
export type ReadYaml = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly detail: string };

export const yamlWorkerUrl: string = import.meta.url;

parentPort?.on('message', (bytes: Uint8Array) => {
  const decoded = decodeYaml(bytes, { depthMax: jsonDepthMax, lengthMax: requestBodyBytesMax });
  parentPort?.postMessage(decoded.ok ? withinBody(JSON.stringify(decoded.value)) : decoded);
});

/** Refuses JSON longer than a JSON body may be, which escapes can make of a short text: the event loop decodes it. */
function withinBody(json: string): ReadYaml {
  return Buffer.byteLength(json) <= requestBodyBytesMax
    ? { ok: true, json }
    : { ok: false, detail: `as JSON it has more than ${String(requestBodyBytesMax)} bytes` };
}
