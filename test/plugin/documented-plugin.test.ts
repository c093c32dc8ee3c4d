import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';
import { repository } from '../architecture/repository.ts';
import { temporaryFolder, writePlugins } from './host/host-stage.ts';

/** Fenced blocks that begin with a comment with a path: the files that the page asks its reader to write. */
function filesIn(markdown: string): Readonly<Record<string, string>> {
  const blocks = [...markdown.matchAll(/^```(?:js|yaml)\n(?:#|\/\/) (\S+\/\S+)\n([\s\S]*?)^```/gmu)];
  return Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));
}

test('the plugin of docs/plugins.md runs exactly as printed there', async (t) => {
  const files = filesIn(await readFile(join(repository, 'docs', 'plugins.md'), 'utf8'));
  t.same(Object.keys(files), [
    'widgets/plugin.yaml',
    'widgets/main.mjs',
    'widgets/extensions/starters.yaml',
    'widgets/extensions/roles.yaml',
  ]);
  const root = await temporaryFolder(t);
  await writePlugins(root, { '.': files });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(() => server.remove());
  const get = async (path: string): Promise<unknown> => (await server.call(path)).json();
  t.match(await get('/apis/plugin.svc.run/v1alpha1/plugins/widgets'), { status: { phase: 'started' } });
  t.match(await get('/apis/widgets.example.com/v1alpha1/widgets?fieldSelector=spec.size>=1&sort=spec.title,asc'), {
    total: 1,
    items: [{ metadata: { name: 'starter' } }],
  });
  t.same(await get('/apis/api.widgets.example.com/v1alpha1/widgets/starter/label'), { label: 'A first widget (1)' });
  for (const name of ['widgets-view', 'widgets-manage', 'widgets-labels'])
    t.match(
      await get(`/api/v1alpha1/roles/${name}`),
      { status: { conditions: [{ type: 'Valid', status: 'True' }] } },
      name,
    );
  t.equal(
    (await fetch(`${server.url}/apis/api.widgets.example.com/v1alpha1/widgets/starter/label`)).status,
    200,
    'a template opens it to visitors',
  );
  t.equal((await fetch(`${server.url}/apis/widgets.example.com/v1alpha1/widgets/starter`)).status, 401);
});
