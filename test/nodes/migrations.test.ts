/** Of two nodes the leader runs the migrations of a plugin; after a kill, the other continues from the record. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';

import { leaseMs } from '../../src/limits/reconcilers.ts';
import { linksPackage, linksPath } from '../packages/links-package.ts';
import { pluginPath } from '../packages/package-requests.ts';
import { adminAuthorization } from '../support/server/start-server.ts';
import { ranked } from './support/leading.ts';
import { commentServer, startLogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(240_000);
commentServer(t);

const count = 400;
/** The step waits, so that the leader can be killed in the middle. */
const slowRename =
  '({ spec, ...link }) => { if (!("title" in spec)) return undefined; ' +
  'const end = performance.now() + 15; while (performance.now() < end); ' +
  'return { ...link, spec: { label: spec.title } }; }';

type Shown = {
  readonly status?: {
    readonly version?: string;
    readonly phase?: string;
    readonly migrations?: readonly { readonly phase: string; readonly visited: number; readonly after?: string }[];
  };
};

async function upload(node: NodeProcess, route: string, archive: Buffer): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'links.tgz');
  const path = `/apis/api.console.svc.run/v1alpha1/plugins/${route}`;
  const answer = await fetch(node.url + path, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: form,
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function plugin(node: NodeProcess, holds: (shown: Shown) => boolean, seconds = 60): Promise<Shown> {
  const { text } = await node.until(
    `${pluginPath}/links`,
    ({ status, text: body }) => status === 200 && holds(JSON.parse(body) as Shown),
    { seconds },
  );
  return JSON.parse(text) as Shown;
}

test('the leader migrates, and another node continues after a kill', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-migration-nodes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({ eventLog: log, folder, name });
    t.teardown(async () => node.kill());
    return node;
  };
  const [leader, other] = await ranked([await start('first'), await start('second')]);
  await upload(leader, 'install', linksPackage({ version: '1.0.0', member: 'title' }));
  for (const node of [leader, other]) await plugin(node, ({ status }) => status?.phase === 'started');
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify({ metadata: { name: `link-${String(index).padStart(3, '0')}` }, spec: { title: 'a' } });
    const { status, text } = await leader.ask(linksPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (status !== 201) throw new Error(text);
  }
  const more = `migrations: [{ id: 'rename-title', type: link, up: ${slowRename} }],`;
  await upload(leader, 'links/upgrade', linksPackage({ version: '2.0.0', member: 'label', more }));
  await plugin(other, ({ status }) => (status?.migrations?.[0]?.visited ?? 0) > 0);
  await leader.kill();
  const stopped = await plugin(other, ({ status }) => status?.migrations?.[0]?.phase === 'running');
  t.ok((stopped.status?.migrations?.[0]?.visited ?? count) < count, 'it was killed in the middle');
  await plugin(other, ({ status }) => status?.migrations?.[0]?.phase === 'done', (leaseMs * 2) / 1_000 + 60);
  const { text } = await other.ask(`${linksPath}?fieldSelector=spec.label=a&size=1`);
  t.equal((JSON.parse(text) as { readonly total: number }).total, count);
  const histories = await Promise.all(
    ['link-000', 'link-200', 'link-399'].map(async (name) => other.ask(`${linksPath}/${name}/history`)),
  );
  for (const history of histories)
    t.equal((JSON.parse(history.text) as { readonly items: readonly object[] }).items.length, 2, 'each changed once');
  await other.stop();
});
