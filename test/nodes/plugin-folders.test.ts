/**
 * Two nodes with different versions of one plugin in their folders: the one with the older version reads, and writes
 * none of its types.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';

import { eventsOf } from '../support/memory/event-log.ts';
import { ranked } from './support/leading.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';
import { widgetsPath } from './support/widget-model.ts';

t.setTimeout(240_000);
commentServer(t);

const goods = '/apis/goods.example/v1/goods';
const manifest = (version: string): string => `apiVersion: plugin.svc.run/v1alpha1
kind: Plugin
metadata: {name: good}
spec: {version: ${version}, main: main.mjs}
`;
/** The newer version takes fewer colours. */
const module = (colours: readonly string[]): string => `export default { types: [{
  group: 'goods.example', version: 'v1', kind: 'Goods', singular: 'good', plural: 'goods',
  schema: { type: 'object', properties: { spec: {
    type: 'object', properties: { color: { enum: ${JSON.stringify(colours)} } } } } },
  indexes: [{ name: 'spec.color', unique: true }],
}] };
`;
const older = { version: '1.0.0', colours: ['red', 'green', 'blue'] };
const newer = { version: '1.1.0', colours: ['red', 'green'] };

function write(folder: string, { version, colours }: typeof older): void {
  mkdirSync(join(folder, 'good'), { recursive: true });
  writeFileSync(join(folder, 'good', 'main.mjs'), module(colours));
  writeFileSync(join(folder, 'good', 'plugin.yaml'), manifest(version));
}

type Sent = {
  readonly status: number;
  readonly body: { readonly message?: string };
  readonly retryAfter: string | undefined;
};

async function send(node: NodeProcess, method: string, path: string, object?: object): Promise<Sent> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const { status, text, headers } = await node.ask(path, {
    method,
    headers: { 'content-type': type },
    ...(object === undefined ? {} : { body: JSON.stringify(object) }),
  });
  const retryAfter = headers['retry-after'];
  return {
    status,
    body: JSON.parse(text) as Sent['body'],
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  };
}

const good = (name: string, color: string): object => ({ metadata: { name }, spec: { color } });
const names = async (node: NodeProcess): Promise<readonly string[]> =>
  (
    JSON.parse((await node.ask(goods)).text) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    }
  ).items
    .map(({ metadata }) => metadata.name)
    .sort();

test("a node with a plugin's older folder reads and does not write, under either leader, until updated", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-plugin-folders-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const start = async (name: string, version: typeof older): Promise<NodeProcess> => {
    write(join(folder, `plugins-of-${name}`), version);
    const node = await NodeProcess.start({
      eventLog: log,
      folder,
      name,
      env: { PLUGINS_DIRS: join(folder, `plugins-of-${name}`) },
    });
    t.teardown(async () => node.kill());
    return node;
  };
  const one = await start('one', newer);
  await one.until(goods, ({ status }) => status === 200);
  t.equal((await send(one, 'POST', goods, good('first', 'red'))).status, 201);
  // The level of the log rises once it is known that no other node needs the present one; then types are declared.
  while (!(await eventsOf(log)).some(({ stream }) => stream === 'type:goods.goods.example')) await passes(200);
  const two = await start('two', older);
  await two.until(goods, ({ status }) => status === 200);
  const [leader] = await ranked([one, two]);
  t.equal(leader, one);

  const refuses = async (what: string): Promise<void> => {
    for (const [method, path, object] of [
      ['POST', goods, good('second', 'blue')],
      ['PATCH', `${goods}/first`, { spec: { color: 'blue' } }],
      ['DELETE', `${goods}/first`],
    ] as const) {
      const { status, body, retryAfter } = await send(two, method, path, object);
      t.equal(status, 503, `${what}: ${method}`);
      t.match(
        body.message,
        new RegExp(
          String.raw`goods\.goods\.example is declared by the plugin good 1\.1\.0 \(.+\), and this server has ` +
            String.raw`the plugin good 1\.0\.0 \(`,
          'u',
        ),
      );
      t.ok(Number(retryAfter) > 0);
    }
  };
  await refuses('the other leads');
  t.equal(
    (await send(one, 'POST', goods, good('second', 'green'))).status,
    201,
    'the node with the newer folder writes',
  );
  await two.until(`${goods}/second`, ({ status }) => status === 200);
  t.strictSame(await names(two), ['first', 'second'], 'reads go on');
  t.equal(
    (await send(two, 'POST', widgetsPath, { metadata: { name: 'w' }, spec: { title: 'w' } })).status,
    201,
    'and so do writes of other types',
  );

  await one.stop();
  await two.until('/metrics', ({ text }) => /^ledgerplane_leader 1$/mu.test(text));
  await refuses('it leads itself');
  t.strictSame(await names(two), ['first', 'second']);

  const reported = async (version: RegExp): Promise<unknown> =>
    two.until('/apis/plugin.svc.run/v1alpha1/plugins/good', ({ text }) => version.test(text));
  // Until then the status is that of the other node.
  await reported(/"phase":"started".*"version":"1\.0\.0"/u);
  write(join(folder, 'plugins-of-two'), newer);
  await reported(/"phase":"started".*"version":"1\.1\.0"/u);
  t.equal((await send(two, 'POST', goods, good('third', 'blue'))).status, 422);
  t.equal((await send(two, 'POST', goods, good('third', 'red'))).status, 409);
  t.equal((await send(two, 'PATCH', `${goods}/first`, { spec: { size: 1 } })).status, 200);
  t.equal((await send(two, 'DELETE', `${goods}/second`)).status, 200);
  t.equal((await send(two, 'POST', goods, good('third', 'green'))).status, 201);
  await two.stop();
});
