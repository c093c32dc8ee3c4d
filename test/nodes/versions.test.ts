/** Two nodes during an upgrade of a plugin whose type gets another version: each serves the versions that it knows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';

import { alpha, modules, stable, writeParts, type Body } from '../versions/gadget-plugin.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(240_000);
commentServer(t);

test('two nodes convert the same objects, before and after both have the newer plugin', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-versions-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const eventLog = await startLogServer(t);
  const pluginsOf = (name: string): string => join(folder, `plugins-of-${name}`);
  const start = async (name: string, module: string, version: string): Promise<NodeProcess> => {
    await writeParts(pluginsOf(name), module, version);
    const node = await NodeProcess.start({ eventLog, folder, name, env: { PLUGINS_DIRS: pluginsOf(name) } });
    t.teardown(async () => node.kill());
    return node;
  };
  const send = async (node: NodeProcess, method: string, path: string, body: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return node.ask(path, { method, headers: { 'content-type': type }, body: JSON.stringify(body) });
  };
  const shows = async (node: NodeProcess, path: string, spec: Body['spec']): Promise<void> => {
    const text = JSON.stringify(spec).slice(1, -1);
    await node.until(path, (answer) => answer.status === 200 && answer.text.includes(text));
  };

  const one = await start('one', modules.old, '1.0.0');
  await one.until(alpha, ({ status }) => status === 200);
  t.equal((await send(one, 'POST', alpha, { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } })).status, 201);
  const two = await start('two', modules.both, '2.0.0');
  await shows(two, `${stable}/lamp`, { name: 'Lamp' });
  await shows(two, `${alpha}/lamp`, { title: 'Lamp' });
  await shows(one, `${alpha}/lamp`, { title: 'Lamp' });
  t.equal((await one.ask(`${stable}/lamp`)).status, 404, 'it does not know v1');

  await writeParts(pluginsOf('one'), modules.both, '2.0.0');
  await shows(one, `${stable}/lamp`, { name: 'Lamp' });
  const patched = async (node: NodeProcess, path: string, spec: object): Promise<void> => {
    // Until the leader has declared the newer type, writes are refused with 503.
    for (let status = 503; status === 503;) status = (await send(node, 'PATCH', path, { spec })).status;
  };
  await patched(one, `${alpha}/lamp`, { title: 'Torch' });
  await shows(two, `${stable}/lamp`, { name: 'Torch' });
  await patched(two, `${stable}/lamp`, { name: 'Candle' });
  await shows(one, `${alpha}/lamp`, { title: 'Candle' });
  for (const path of [alpha, stable]) {
    const [left, right] = await Promise.all([one, two].map(async (node) => node.ask(`${path}/lamp`)));
    t.equal(left?.text, right?.text);
    t.equal(left?.headers['etag'], right?.headers['etag']);
  }
  await Promise.all([one.stop(), two.stop()]);
});
