import t from 'tap';

import { RefusedCallError } from '../../src/plugin/client.ts';
import { manifestYaml, openStage, temporaryFolder, writePlugins } from './host-stage.ts';

t.test('a stray error is told from the platform\'s own', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    stray: {
      'plugin.yaml': manifestYaml('stray', { main: 'main.mjs' }),
      'main.mjs': 'import { make } from "./lib/make.mjs"; globalThis.strayErrors = [new Error("a"), make(), Object.defineProperty(new Error("c"), "stack", { get() { throw 1; } })]; export default {};',
      'lib/make.mjs': 'export const make = () => new TypeError("b");',
    },
  });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  const [direct, deeper, hostile] = (globalThis as unknown as { strayErrors: Error[] }).strayErrors;
  t.equal(stage.host.blame(direct), 'stray');
  t.equal(stage.host.blame(deeper), 'stray');
  t.equal(stage.host.blame(hostile), undefined, 'it may be anybody\'s');
  t.equal(stage.host.blame(new Error('ours')), undefined);
  t.equal(stage.host.blame(undefined), 'unknown');
  t.equal(stage.host.blame(new RefusedCallError('no', { word: 'Forbidden', status: 403 })), 'unknown');
  await stage.close();
});
