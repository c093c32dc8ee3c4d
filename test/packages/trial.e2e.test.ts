import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { quickClock } from '../support/clocks/quick-clock.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';
import { tellerPackage, tellerVersionPath } from './teller-package.ts';

t.setTimeout(200_000);

const installs = '/apis/api.console.svc.run/v1alpha1/plugins';
const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';

async function upload(
  server: TestServer,
  path: string,
  archive: Buffer,
): Promise<{ readonly status: number; readonly detail: string }> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'package.tgz');
  const answer = await fetch(`${server.url}${installs}/${path}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: form,
  });
  const { message = '' } = (await answer.json()) as { readonly message?: string };
  return { status: answer.status, detail: message };
}

const loops = /did not load within 10 s: the module loops, or waits/u;
const heapless = /more than 256 MiB|did not load within/u;
type Fatal = Readonly<Record<string, { readonly module: string; readonly detail: RegExp }>>;

const endless: Fatal = {
  'a loop at the top level': { module: 'for (;;);', detail: loops },
  'a loop that prints': { module: 'for (;;) console.log("x".repeat(10_000));', detail: loops },
  'a loop in the function that defines it': { module: 'export default () => { for (;;); };', detail: loops },
  'a loop in a member of its export': { module: 'export default { get types() { for (;;); } };', detail: loops },
  'a loop in a member of a type': {
    module: 'export default { types: [{ get group() { for (;;); } }] };',
    detail: loops,
  },
  'a loop where it stops': { module: 'export default { stop() { for (;;); } };', detail: loops },
  'a loop in a getter of the thrown value': {
    module: 'throw Object.defineProperty(new Error(), "message", { get() { for (;;); } });',
    detail: loops,
  },
  'a loop in where it was thrown': {
    module: 'throw Object.defineProperty(new Error(), "stack", { get() { for (;;); } });',
    detail: loops,
  },
  'a loop of microtasks': {
    module: 'const again = () => { queueMicrotask(again); }; again(); export default {};',
    detail: loops,
  },
  'a chain of promises': {
    module: 'const again = () => Promise.resolve().then(again); again(); export default {};',
    detail: /did not load within 10 s|more than 256 MiB/u,
  },
  'a module that never settles': { module: 'await new Promise(() => {});', detail: loops },
};

const ending: Fatal = {
  'an exit': { module: 'process.exit(3);', detail: /ends the process while the module loads \(exit code 3\)/u },
  'a heap without bound': { module: 'const all = []; for (;;) all.push(new Array(1e6).fill(1.1));', detail: heapless },
  'an abort': { module: 'process.abort();', detail: /aborts the process while the module loads/u },
  'a signal': {
    module: 'process.kill(process.pid, "SIGTERM");',
    detail: /ends the process while the module loads \(SIGTERM\)/u,
  },
};

test('an uploaded module that would hold the process is refused, and the server goes on', async (t) => {
  await checkRefused(t, await startTestServer({ clock: quickClock(4) }), endless);
});

// At the usual pace: what ends by itself does so within the time limit on a busy machine, too.
test('an uploaded module that would end the process is refused, and the server goes on', async (t) => {
  await checkRefused(t, await startTestServer(), ending);
});

async function checkRefused(t: Test, server: TestServer, modules: Fatal): Promise<void> {
  t.teardown(async () => server.remove());
  t.match(await upload(server, 'install', tellerPackage('1.0.0')), { status: 201 });
  for (const [what, { module, detail }] of Object.entries(modules)) {
    const refused = new AbortController();
    const upgrading = upload(server, 'teller/upgrade', tellerPackage('2.0.0', { module })).finally(() => {
      refused.abort();
    });
    let answered = 0;
    // Each answer shows that the event loop turned while the module ran.
    while (!refused.signal.aborted) if ((await server.call(tellerVersionPath)).status === 200) answered += 1;
    t.match(await upgrading, { status: 422, detail }, what);
    t.ok(answered > 1, `${what}: others are answered meanwhile`);
    t.match(
      await upload(server, 'install', tellerPackage('1.0.0', { name: 'other', group: 'other.example.com', module })),
      { status: 422, detail },
      `${what}, installed`,
    );
  }
  t.match(await (await server.call(tellerVersionPath)).json(), { version: '1.0.0' }, 'the version before still serves');
  t.equal((await server.call(`${plugins}/other`)).status, 404);
  t.equal(
    (await readdir(join(server.dataDir, 'packages'))).length,
    2,
    'nothing is left but the folder of the first and its sum',
  );
  t.same(await readdir(join(server.dataDir, 'plugin-loads')), []);
}

test('a module that throws is refused with its error, and one that imports the platform loads', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  t.match(await upload(server, 'install', tellerPackage('1.0.0', { module: 'throw new Error("boom");' })), {
    status: 422,
    detail: /the plugin's module failed: Error: boom/u,
  });
  const module = `import { definePlugin } from 'ledgerplane/plugin';
export default definePlugin(({ name, log }) => { log.info(name); return { routes: [{ method: 'GET',
  path: '${tellerVersionPath}', handler: () => ({ body: { name } }) }] }; });`;
  t.match(await upload(server, 'install', tellerPackage('1.0.0', { module })), { status: 201 });
  t.match(await (await server.call(tellerVersionPath)).json(), { name: 'teller' });
});
