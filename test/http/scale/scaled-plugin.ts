import type { Test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';

const type = (members: string): string => `{ group: 'farm.example', version: 'v1', ${members} }`;

/** Types with replicas: one with everything, one without a scale and without a status of its own. */
const text = `
const schema = { type: 'object', properties: {
  spec: { type: 'object', additionalProperties: false, properties: {
    replicas: { type: 'integer', minimum: 0, maximum: 100 }, color: { type: 'string' }, pool: { type: 'object' },
  } },
  status: { type: 'object', properties: { ready: { type: 'integer' }, selector: { type: 'string' } } },
} };
export default { types: [
  ${type(`kind: 'Flock', singular: 'flock', plural: 'flocks', schema, statusSubresource: true,
    shortNames: ['fl', 'flk'], categories: ['birds'],
    scale: { specReplicas: '/spec/replicas', statusReplicas: '/status/ready', labelSelector: '/status/selector' }`)},
  ${type(`kind: 'Nest', singular: 'nest', plural: 'nests', schema, shortNames: ['fl'], categories: ['birds'],
    scale: { specReplicas: '/spec/pool/a~1b/replicas', statusReplicas: '/status/ready' }`)},
  ${type(`kind: 'Egg', singular: 'egg', plural: 'eggs', schema`)},
] };`;

/** A folder with the plugin, for `PLUGINS_DIRS`. */
export async function scaledPlugins(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    farm: { 'plugin.yaml': manifestYaml('farm', { main: 'main.mjs' }), 'main.mjs': text },
  });
  return folder;
}
