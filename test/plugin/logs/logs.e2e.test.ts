import { join } from 'node:path';

import { test, type Test } from 'tap';

import { runCommandLine, type CommandLineOptions } from '../../support/server/command-line.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';
import { temporaryFolder, writePlugins } from '../host/host-stage.ts';

const main = `import { definePlugin } from 'ledgerplane/plugin';
export default definePlugin(({ log }) => {
  log.info('defined', { size: 3 });
  return { routes: [
    { method: 'GET', path: '/apis/api.notes.example/v1/say',
      handler: ({ query }) => { log.warn(String(query.text)); } },
    { method: 'GET', path: '/apis/api.notes.example/v1/fail', handler: () => { throw new TypeError('out of ink'); } },
  ] };
});
`;
const manifest = `apiVersion: plugin.\${domain}/v1alpha1
kind: Plugin
metadata:
  name: notes
spec:
  version: 1.0.0
  main: main.mjs
`;
const logsPath = '/apis/api.console.svc.run/v1alpha1/plugins/notes/logs';

async function started(t: Test): Promise<TestServer> {
  const folder = await temporaryFolder(t);
  await writePlugins(join(folder, 'plugins'), { notes: { 'plugin.yaml': manifest, 'main.mjs': main } });
  const server = await startTestServer({
    environment: { PLUGINS_DIRS: join(folder, 'plugins') },
    logLines: { write: () => undefined },
  });
  t.teardown(async () => server.remove());
  return server;
}

type Page = {
  readonly cursor: string;
  readonly dropped: number;
  readonly items: readonly { readonly level: string; readonly message: string; readonly fields?: unknown }[];
};

async function read(server: TestServer, query = ''): Promise<Page> {
  return (await (await server.call(`${logsPath}${query}`)).json()) as Page;
}

test('the log lines of a plugin, its own and those of the platform about it, are served', async (t) => {
  const server = await started(t);
  const { items, cursor } = await read(server);
  t.match(
    items.find(({ message }) => message === 'defined'),
    { level: 'info', fields: { size: 3 } },
  );
  t.equal((await server.call('/apis/api.notes.example/v1/fail')).status, 500);
  await server.call('/apis/api.notes.example/v1/say?text=hello');
  const later = (await read(server, `?after=${cursor}`)).items;
  t.match(JSON.stringify(later[0]), /out of ink/u);
  t.match(later.at(-1), { level: 'warn', message: 'hello' });
  t.same((await read(server, `?after=${(await read(server)).cursor}`)).items, []);
});

test('the lines need a right of their own, and an unknown plugin has none', async (t) => {
  const server = await started(t);
  t.equal((await server.call(logsPath.replace('notes', 'none'))).status, 404);
  t.equal((await server.call(`${logsPath}?after=a&after=b`)).status, 400);
  t.equal((await fetch(`${server.url}${logsPath}`)).status, 401);
  const users = '/api/v1alpha1/users';
  await server.call(users, { method: 'POST', body: { metadata: { name: 'ann' }, spec: { password: testPassword } } });
  const asAnn = { authorization: `Basic ${Buffer.from(`ann:${testPassword}`).toString('base64')}` };
  t.equal((await server.call(logsPath, { headers: asAnn })).status, 403);
  const rules = [{ apiGroups: ['api.console.svc.run'], resources: ['plugins/logs'], verbs: ['get'] }];
  await server.call('/api/v1alpha1/roles', { method: 'POST', body: { metadata: { name: 'log-reader' }, rules } });
  await server.call('/apis/api.console.svc.run/v1alpha1/users/ann/permissions', {
    method: 'POST',
    body: { roles: ['log-reader'] },
  });
  t.equal((await server.call(logsPath, { headers: asAnn })).status, 200);
});

test('the command prints the lines, and follows new ones', async (t) => {
  const server = await started(t);
  const options: CommandLineOptions = {
    cwd: server.dataDir,
    env: { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword },
  };
  const once = runCommandLine(['plugin', 'logs', 'notes'], options);
  t.equal(await once.exited(), 0, once.stderr());
  t.match(once.stdout(), /^\d{4}-\S+Z info {2}defined \{"size":3\}$/mu);
  const following = runCommandLine(['plugin', 'logs', 'notes', '--follow'], options);
  await following.printed(/defined/u);
  await server.call('/apis/api.notes.example/v1/fail');
  await server.call('/apis/api.notes.example/v1/say?text=hello');
  await following.printed(/Z warn {2}hello$/mu);
  t.match(following.stdout(), /"TypeError: out of ink"[^]*\n {4}at .*main\.mjs/u);
  following.child.kill('SIGTERM');
  await following.exited();
  const none = runCommandLine(['plugin', 'logs', 'none'], options);
  t.equal(await none.exited(), 1);
  t.match(none.stderr(), /not found/u);
});
