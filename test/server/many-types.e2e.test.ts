import { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';
import { startTestServer } from '../support/server/start-server.ts';

const typeCount = 30;

const module = `
export default { types: Array.from({ length: ${String(typeCount)} }, (_, index) => ({
  group: 'many.example', version: 'v1', kind: 'Kind' + index, singular: 'kind' + index, plural: 'kinds' + index,
  schema: { type: 'object', properties: { spec: { type: 'object' } } },
})) };`;

test('a plugin with many types starts without a warning of Node', async (t) => {
  const warnings: string[] = [];
  const record = (warning: Error): void => {
    warnings.push(`${warning.name}: ${warning.message}`);
  };
  process.on('warning', record);
  t.teardown(() => process.off('warning', record));
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    many: { 'plugin.yaml': manifestYaml('many', { main: 'main.mjs' }), 'main.mjs': module },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  const last = await server.call(`/apis/many.example/v1/kinds${String(typeCount - 1)}`);
  t.equal(last.status, 200);
  t.strictSame(warnings, []);
});
