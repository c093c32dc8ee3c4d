import { setTimeout as passes } from 'node:timers/promises';

import { test } from 'tap';

import { runCommandLine } from '../../support/server/command-line.ts';
import { adminAuthorization, testPassword } from '../../support/server/start-server.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../host/host-stage.ts';

/** What a route of the plugin leaves to nobody, by its name. */
const strays = {
  rejection: 'Promise.reject(new Error("stray rejection"));',
  timer: 'setTimeout(() => { throw new Error("stray timer"); }, 1);',
  file: 'readFile("/nowhere/stray-file");',
  connection: 'connect(1, "127.0.0.1");',
  text: 'Promise.reject("stray text");',
  nothing: 'Promise.reject(Object.create(null));',
  hostile:
    'Promise.reject(Object.defineProperty(new Error(), "stack", { get() { throw new Error("stray getter"); } }));',
  refused: 'client.get({ group: "nobody.example", version: "v1", plural: "things" }, "x");',
};

const routes = Object.entries(strays).map(
  ([name, statement]) =>
    `{ method: 'POST', path: '/apis/api.stray.example/v1/${name}', handler: ({ client }) => { ${statement} return ` +
    `{ body: '${name}' }; } }`,
);
const moduleText = `
  import { readFile } from 'node:fs/promises';
  import { connect } from 'node:net';
  Promise.reject(new Error('stray at import'));
  setTimeout(() => { throw new Error('stray at start'); }, 1);
  export default { routes: [${routes.join(', ')}] };
`;

test('an unhandled error of a plugin is logged with its name and survived, also during the start', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    stray: { 'plugin.yaml': manifestYaml('stray', { main: 'main.mjs' }), 'main.mjs': moduleText },
  });
  const run = runCommandLine(['serve'], {
    cwd: t.testdir(),
    env: { PORT: '0', ADMIN_PASSWORD: testPassword, PLUGINS_DIRS: root },
  });
  t.teardown(() => run.child.kill('SIGKILL'));
  const url = /http:\/\/\S+/u.exec(await run.ready())?.[0] ?? '';
  const untilLogged = async (count: number): Promise<readonly { plugin: string; error: string }[]> => {
    for (;;) {
      const lines = run
        .stderr()
        .split('\n')
        .filter((line) => line.includes(' of a plugin"'))
        .map((line) => JSON.parse(line) as { plugin: string; error: string });
      if (lines.length >= count) return lines;
      await passes(5);
    }
  };
  t.match(await untilLogged(2), [
    { plugin: 'stray', error: /stray at/u },
    { plugin: 'stray', error: /stray at/u },
  ]);
  let count = 2;
  for (const name of Object.keys(strays)) {
    const answer = await fetch(`${url}/apis/api.stray.example/v1/${name}`, {
      method: 'POST',
      headers: { authorization: adminAuthorization },
    });
    t.equal(answer.status, 200, name);
    count += 1;
    const last = (await untilLogged(count)).at(-1);
    t.ok(last !== undefined && ['stray', 'unknown'].includes(last.plugin), `${name}: ${JSON.stringify(last)}`);
  }
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
});

test('a start that waits only for a plugin continues to wait', async (t) => {
  const root = await temporaryFolder(t);
  // Neither a listener of signals nor a time limit keeps a process alive.
  const module =
    'process.stderr.write("waiting\\n"); await new Promise((resolve) => { process.once("SIGUSR2", resolve); }); ' +
    'export default {};';
  await writePlugins(root, {
    waits: { 'plugin.yaml': manifestYaml('waits', { main: 'main.mjs' }), 'main.mjs': module },
  });
  const run = runCommandLine(['serve'], {
    cwd: t.testdir(),
    env: { PORT: '0', ADMIN_PASSWORD: testPassword, PLUGINS_DIRS: root },
  });
  t.teardown(() => run.child.kill('SIGKILL'));
  const ready = run.ready();
  while (!run.stderr().includes('waiting\n')) await Promise.race([passes(5), ready]);
  await Promise.race([passes(1_000), ready]);
  run.child.kill('SIGUSR2');
  t.match(await ready, /^ledgerplane ready/u);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
});
