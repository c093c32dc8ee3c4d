/** Files of a plugin that change on disk, on a real server that is never started again. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { Watching, transports } from '../../support/watching.ts';
import { manifestYaml, moduleText, temporaryFolder, writePlugins } from './host-stage.ts';

t.setTimeout(120_000);
const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';
const goods = '/apis/goods.example/v1/goods';
const others = '/apis/others.example/v1/others';
const hello = '/apis/api.goods.example/v1/hello';
const route =
  '{ method: "GET", path: "/apis/api.goods.example/v1/hello", handler: () => ({ body: { word: word(), from } }) }';

function mainText(from: string): string {
  return (
    `import { word } from './lib/helper.mjs';\nconst from = '${from}';\n` +
    moduleText('goods', { more: `routes: [${route}]` })
  );
}

const good = {
  'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
  'main.mjs': mainText('one'),
  'lib/helper.mjs': 'export const word = () => "first";\n',
  'extensions/goods.yaml': 'apiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: shipped}\nspec: {color: red}\n',
};
const other = { 'plugin.yaml': manifestYaml('other', { main: 'main.mjs' }), 'main.mjs': moduleText('others') };

type Plugin = {
  readonly status: {
    readonly phase: string;
    readonly version?: string;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
};
type Given = { readonly server: TestServer; readonly folder: string };

async function given(t: Test): Promise<Given> {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good, other });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => server.remove());
  return { server, folder: join(root, 'good') };
}

async function until(server: TestServer, holds: (ready: string, phase: string) => boolean): Promise<Plugin> {
  for (;;) {
    const plugin = (await (await server.call(`${plugins}/good`)).json()) as Plugin;
    const ready = plugin.status.conditions.find(({ type }) => type === 'Ready');
    if (holds(`${ready?.reason ?? ''}: ${ready?.message ?? ''}`, plugin.status.phase)) return plugin;
    await passes(10);
  }
}

async function answersWith(server: TestServer, word: string, from: string): Promise<void> {
  for (;;) {
    const answer = await server.call(hello);
    const text = await answer.text();
    if (answer.status === 200 && text === JSON.stringify({ word, from })) return;
    await passes(10);
  }
}

async function ended(watching: Watching): Promise<number | undefined> {
  while (watching.closed === undefined) await passes(10);
  return watching.closed;
}

test('watches end with 1012, and new code serves, also of imported files', async (t) => {
  const { server, folder } = await given(t);
  await answersWith(server, 'first', 'one');
  const headers = { authorization: adminAuthorization };
  const watches = await Promise.all(
    transports.map(async (transport) =>
      Watching.open(server.url, transport === 'json' ? goods : `${goods}?watch=true`, { transport, headers }),
    ),
  );
  const elsewhere = await Watching.open(server.url, `${others}?watch=true`, { transport: 'websocket', headers });
  await writeFile(join(folder, 'lib', 'helper.mjs'), 'export const word = () => "second";\n');
  await answersWith(server, 'second', 'one');
  t.strictSame(
    await Promise.all(watches.map(ended)),
    transports.map((transport) => (transport === 'websocket' ? 1012 : 0)),
  );
  t.strictSame(
    watches.map(({ story }) => story.at(-1)),
    transports.map(() => 'ERROR Status 503'),
  );
  t.equal(elsewhere.closed, undefined, "another plugin's go on");
  await until(server, (_ready, phase) => phase === 'started');
  t.match(await (await server.call(`${goods}/shipped`)).json(), { spec: { color: 'red' } });
  const again = await Watching.open(server.url, `${goods}?watch=true`, { transport: 'websocket', headers });
  await again.until(({ events }) => events.length > 0);
  for (const [index, word] of ['third', 'fourth'].entries()) {
    await writeFile(join(folder, 'lib', 'helper.mjs'), `export const word = () => "${word}";\n`);
    await writeFile(join(folder, 'main.mjs'), mainText(`round ${String(index)}`));
    await answersWith(server, word, `round ${String(index)}`);
  }
  t.equal(await ended(again), 1012);
  t.equal(elsewhere.closed, undefined);
  elsewhere.leave();
});

test('a reload reports none of its objects as deleted', async (t) => {
  const { server, folder } = await given(t);
  await answersWith(server, 'first', 'one');
  const met = new Set<number>();
  await writeFile(
    join(folder, 'main.mjs'),
    `await new Promise((resolve) => { setTimeout(resolve, 700); });\n${mainText('two')}`,
  );
  for (let isBack = false; !isBack;) {
    const answers = await Promise.all([`${goods}/shipped`, goods, hello].map(async (path) => server.call(path)));
    for (const { status } of answers) met.add(status);
    isBack = (await answers[2]!.text()).includes('two');
  }
  t.strictSame([...met].sort(), [200, 503]);
  t.equal((await server.call('/apis/api.goods.example/v1/nothing')).status, 404, 'once it is back');
  await server.call(`${plugins}/good`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { enabled: false } },
  });
  await until(server, (_ready, phase) => phase === 'stopped');
  t.equal((await server.call(goods)).status, 404, 'nor is one expected that was switched off');
});

test('writes during a reload wait for its end', async (t) => {
  const { server, folder } = await given(t);
  await answersWith(server, 'first', 'one');
  await writeFile(
    join(folder, 'main.mjs'),
    `await new Promise((resolve) => { setTimeout(resolve, 700); });\n${mainText('two')}`,
  );
  let read = await server.call(goods);
  for (; read.status !== 503; read = await server.call(goods)) await passes(1);
  t.match(await read.json(), { details: { causes: [{ reason: 'NothingWritten' }] } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answers = await Promise.all([
    server.call(`${goods}/shipped`, { method: 'PATCH', headers, body: { spec: { color: 'blue' } } }),
    server.call(goods, { method: 'POST', body: { metadata: { name: 'new' }, spec: { color: 'red' } } }),
  ]);
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 201],
  );
  await answersWith(server, 'first', 'two');
});

test('a broken file fails its plugin with the reason, others serve, and a repaired one starts again', async (t) => {
  const { server, folder } = await given(t);
  const breaks: readonly (readonly [file: string, text: string, why: RegExp])[] = [
    ['main.mjs', 'export default {', /^ModuleFailed: .*(?:SyntaxError|Unexpected)/u],
    ['lib/helper.mjs', 'export const nothing = 1;', /^ModuleFailed: .*word/u],
    ['lib/helper.mjs', 'throw new Error("it is raining"); export const word = 1;', /^ModuleFailed: .*it is raining/u],
    ['plugin.yaml', 'kind: [', /^ManifestUnreadable: /u],
    ['extensions/goods.yaml', 'apiVersion: goods.example/v1\nkind: Nowhere\nmetadata: {name: shipped}\n', /Nowhere/u],
  ];
  for (const [file, text, why] of breaks) {
    await writeFile(join(folder, file), text);
    const failed = await until(server, (ready) => why.test(ready));
    t.equal(failed.status.phase, 'failed', `${file}: ${JSON.stringify(failed.status.conditions[0]?.message)}`);
    t.equal((await server.call(goods)).status, 404);
    t.equal((await server.call(hello)).status, 404);
    t.equal((await server.call(others)).status, 200);
    t.equal((await server.call('/readyz')).status, 200);
    await writeFile(join(folder, file), good[file as keyof typeof good]);
    await until(server, (_ready, phase) => phase === 'started');
    await answersWith(server, 'first', 'one');
    t.equal((await server.call(`${goods}/shipped`)).status, 200);
  }
  await rename(folder, `${folder}-away`);
  await until(server, (ready) => ready.startsWith('FolderMissing'));
  t.equal((await server.call(goods)).status, 404);
  await rename(`${folder}-away`, folder);
  await until(server, (_ready, phase) => phase === 'started');
  await answersWith(server, 'first', 'one');
});

test('a newer version is reported as soon as it runs, and files with unchanged content start nothing', async (t) => {
  const { server, folder } = await given(t);
  const headers = { authorization: adminAuthorization };
  const watching = await Watching.open(server.url, `${goods}?watch=true`, { transport: 'websocket', headers });
  await writeFile(join(folder, 'main.mjs'), good['main.mjs']);
  await writeFile(join(folder, 'notes.txt'), 'nobody reads this');
  // Longer than files settle and are polled.
  await passes(2_600);
  t.equal(watching.closed, undefined);
  await writeFile(join(folder, 'plugin.yaml'), manifestYaml('good', { main: 'main.mjs', version: '1.1.0' }));
  await until(server, () => watching.closed === 1012);
  // The status is written a moment after its watches have ended.
  while ((await until(server, (_ready, phase) => phase === 'started')).status.version !== '1.1.0') await passes(10);
  t.pass('told');
});
