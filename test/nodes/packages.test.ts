/** A package is taken in by whichever node is asked, and serves on all of them. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { tellerPackage, tellerVersionPath } from '../packages/teller-package.ts';
import type { Answered } from '../support/ask.ts';
import { eventsOf } from '../support/memory/event-log.ts';
import { adminAuthorization } from '../support/server/start-server.ts';
import { ranked } from './support/leading.ts';
import { startLogServer, commentServer, type LogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(280_000);
commentServer(t);

const consolePath = '/apis/api.console.svc.run/v1alpha1/plugins';
const tellerPath = '/apis/plugin.svc.run/v1alpha1/plugins/teller';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are matched, not typed
type Taken = { readonly status: number; readonly plugin: any };
type Given = { readonly log: LogServer; readonly nodes: readonly [NodeProcess, NodeProcess] };

async function given(t: Test): Promise<Given> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-package-nodes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({ eventLog: log, folder, name });
    t.teardown(async () => node.kill());
    return node;
  };
  return { log, nodes: [await start('first'), await start('second')] };
}

async function send(node: NodeProcess, path: string, archive: Buffer): Promise<Taken> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'package.tgz');
  const response = await fetch(`${node.url}${consolePath}/${path}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: form,
  });
  return { status: response.status, plugin: await response.json() };
}

function hasVersion(version: string): (answered: Answered) => boolean {
  return ({ status, text }) => status === 200 && text === JSON.stringify({ version });
}

/** The folders of packages, and of archives being unpacked. */
function unpacked(node: NodeProcess): readonly string[] {
  return readdirSync(join(node.dataDir, 'packages')).filter((name) => !name.endsWith('.sum'));
}

test('a package uploaded to one node is served by all, and each answer is about the uploaded version', async (t) => {
  const [leader, other] = await ranked((await given(t)).nodes);
  const installed = await send(other, 'install', tellerPackage('1.0.0'));
  t.match(installed, {
    status: 201,
    plugin: { spec: { version: '1.0.0' }, status: { phase: 'started', version: '1.0.0' } },
  });
  for (const node of [leader, other]) await node.until(tellerVersionPath, hasVersion('1.0.0'));
  t.match(await send(leader, 'install', tellerPackage('1.0.0')), { status: 409 }, 'it is there on the other, too');

  for (const [version, node] of [
    ['2.0.0', other],
    ['3.0.0', leader],
    ['2.0.0', other],
    ['2.0.1', other],
  ] as const) {
    const upgraded = await send(node, 'teller/upgrade', tellerPackage(version));
    t.match(upgraded, { status: 200, plugin: { spec: { version }, status: { phase: 'started', version } } }, version);
    t.equal(
      upgraded.plugin.status.observedGeneration,
      upgraded.plugin.metadata.generation,
      'and the status is of this object',
    );
    for (const each of [leader, other]) await each.until(tellerVersionPath, hasVersion(version));
  }
  const broken = await send(
    other,
    'teller/upgrade',
    tellerPackage('2.0.1', { more: '  pluginDependencies:\n    missing: "*"\n' }),
  );
  t.match(
    broken,
    {
      status: 200,
      plugin: { status: { phase: 'failed', conditions: [{ type: 'Ready', reason: 'DependencyMissing' }] } },
    },
    'one of the same number that fails says so',
  );
  t.match(await send(other, 'teller/upgrade', tellerPackage('2.0.1')), {
    status: 200,
    plugin: { status: { phase: 'started', version: '2.0.1' } },
  });

  t.equal((await other.ask(tellerPath, { method: 'DELETE' })).status, 200);
  for (const node of [leader, other]) await node.until(tellerPath, ({ status }) => status === 404);
  for (const node of [leader, other]) await node.until(tellerVersionPath, ({ status }) => status === 404);
  for (const node of [leader, other]) await node.stop();
});

test('a returning node runs the plugins installed and upgraded in its absence', async (t) => {
  const {
    nodes: [first, second],
  } = await given(t);
  await second.stop();
  t.match(await send(first, 'install', tellerPackage('1.0.0')), {
    status: 201,
    plugin: { status: { phase: 'started' } },
  });
  let back = await second.again();
  t.teardown(async () => back.kill());
  await back.ready();
  t.ok(hasVersion('1.0.0')(await back.ask(tellerVersionPath)), 'as soon as it is ready');
  await back.kill();
  const { plugin } = await send(first, 'teller/upgrade', tellerPackage('2.0.0'));
  back = await back.again();
  await back.ready();
  await back.until(tellerVersionPath, hasVersion('2.0.0'));
  t.ok(unpacked(back).includes(plugin.spec.package.digest), 'unpacked from the log');
  for (const node of [first, back]) await node.stop();
});

test('a node killed in the middle of an upload leaves nothing of it', async (t) => {
  const {
    log,
    nodes: [first, second],
  } = await given(t);
  const archive = tellerPackage('1.0.0');
  await new Promise<void>((resolve) => {
    const req = request(`${first.url}${consolePath}/install`, {
      method: 'POST',
      headers: {
        authorization: adminAuthorization,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': (archive.length + 1_000).toString(),
      },
    });
    req
      .on('error', () => {
        resolve();
      })
      .on('close', () => {
        resolve();
      });
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="p.tgz"\r\n\r\n');
    req.write(archive.subarray(0, archive.length / 2), () => {
      void first.kill();
    });
  });
  await first.exited;
  const back = await first.again();
  t.teardown(async () => back.kill());
  await back.ready();
  t.equal((await back.ask(tellerPath)).status, 404);
  t.strictSame(unpacked(back), []);
  t.strictSame(
    (await eventsOf(log)).filter(({ stream }) => stream.startsWith('package:')),
    [],
    'nor is there anything in the log',
  );
  // The lease of the killed leader may still run, and only the leader reports the status.
  t.match(
    await send(back, 'install', archive),
    { status: 201, plugin: { spec: { version: '1.0.0' } } },
    'and it can be sent again',
  );
  await back.until(
    tellerPath,
    ({ status, text }) =>
      status === 200 &&
      (JSON.parse(text) as { readonly status?: { readonly phase?: string } }).status?.phase === 'started',
  );
  await second.until(tellerVersionPath, hasVersion('1.0.0'));
  for (const node of [back, second]) await node.stop();
});
