import type { Test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { startTestServer, type TestServer } from '../server/start-server.ts';

/** A type that only the tests change: it has no reconciler. */
export const gadgets = { group: 'tools.example', version: 'v1', plural: 'gadgets' } as const;
export const gadgetsPath = '/apis/tools.example/v1/gadgets';
export const gadgetVersion = 'tools.example/v1';

const module = `
const status = { type: 'object', properties: { phase: { type: 'string' } }, additionalProperties: true };
const spec = {
  type: 'object',
  properties: { size: { type: 'integer', minimum: 0 }, title: { type: 'string' } },
  additionalProperties: false,
};
export default {
  types: [
    { group: 'tools.example', version: 'v1', kind: 'Gadget', singular: 'gadget', plural: 'gadgets',
      statusSubresource: true,
      schema: { type: 'object', required: ['spec'], properties: { spec, status } } },
  ],
};
`;

/** Starts a server that serves gadgets. `dataDir`: the folder of a stopped server. */
export async function startGadgetServer(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
  dataDir?: string,
): Promise<TestServer> {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    gadgets: { 'plugin.yaml': manifestYaml('gadgets', { main: 'main.mjs' }), 'main.mjs': module },
  });
  return startTestServer({
    environment: { PLUGINS_DIRS: folder, ...environment },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
}

export type Metadata = {
  readonly name?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly version?: number;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: Date | string | null;
  readonly deletionTimestamp?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
};

export type KubernetesObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
};

export function gadget(name: string, spec: Record<string, unknown> = {}, metadata: Metadata = {}): KubernetesObject {
  return { apiVersion: gadgetVersion, kind: 'Gadget', metadata: { name, ...metadata }, spec };
}
