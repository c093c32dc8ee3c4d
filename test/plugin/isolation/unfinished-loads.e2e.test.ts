import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { runCommandLine, type CommandLine } from '../../support/server/command-line.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../host/host-stage.ts';

t.setTimeout(200_000);

/** What a module does while the file `act` is beside it. */
const acts = { 'loops for ever': 'loop', 'ends the process': 'exit' } as const;

function module(act: 'loop' | 'exit'): string {
  return `import { existsSync, writeSync } from 'node:fs';
if (existsSync(new URL('act', import.meta.url))) {
  writeSync(2, 'the module acts: ${act}\\n');
  ${act === 'loop' ? 'for (;;);' : 'process.exit(7);'}
}
export default {};
`;
}

type ServerFolders = { readonly cwd: string; readonly act: string; readonly env: Readonly<Record<string, string>> };

async function place(t: Test, act: 'loop' | 'exit'): Promise<ServerFolders> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    odd: { 'plugin.yaml': manifestYaml('odd', { main: 'main.mjs' }), 'main.mjs': module(act), act: '' },
  });
  const cwd = await temporaryFolder(t);
  return { cwd, act: join(root, 'odd', 'act'), env: { PORT: '0', PLUGINS_DIRS: root } };
}

function serve(t: Test, { cwd, env }: ServerFolders): CommandLine {
  const server = runCommandLine(['serve'], { cwd, env });
  t.teardown(() => server.child.kill('SIGKILL'));
  return server;
}

/** A server with a module that acts: the process ends by itself, or is killed once the module runs. */
async function endWhileLoading(t: Test, at: ServerFolders): Promise<number | NodeJS.Signals | null> {
  const server = serve(t, at);
  const exited = server.exited();
  const { stderr } = server.child;
  stderr?.on('data', () => {
    if (server.stderr().includes('the module acts: loop')) server.child.kill('SIGKILL');
  });
  return exited;
}

async function command(
  args: readonly string[],
  { cwd, url }: { readonly cwd: string; readonly url: string },
): Promise<{ readonly code: unknown; readonly text: string }> {
  const run = runCommandLine(['plugin', ...args], { cwd, env: { LEDGERPLANE_SERVER: url } });
  const code = await run.exited();
  return { code, text: run.stdout() + run.stderr() };
}

for (const [what, act] of Object.entries(acts)) {
  test(`a module that ${what} prevents a start twice, and not a third time`, async (t) => {
    const at = await place(t, act);
    // The first start ends in order, so that what follows is about the module alone.
    await rm(at.act);
    const first = serve(t, at);
    await first.ready();
    first.child.kill('SIGTERM');
    t.equal(await first.exited(), 0);
    await writeFile(at.act, '');

    const ends = [await endWhileLoading(t, at), await endWhileLoading(t, at)];
    t.same(ends, act === 'exit' ? [7, 7] : ['SIGKILL', 'SIGKILL']);
    let server = serve(t, at);
    const ready = /http:\/\/\S+/u;
    let url = ready.exec(await server.ready())?.[0] ?? '';
    const { text } = await command(['list'], { cwd: at.cwd, url });
    t.match(text, /^odd\s.*failed\s+LoadUnfinished/mu);
    t.notMatch(server.stderr(), /the module acts/u);
    server.child.kill('SIGTERM');
    t.equal(await server.exited(), 0);

    server = serve(t, at);
    url = ready.exec(await server.ready())?.[0] ?? '';
    t.match(
      (await command(['list'], { cwd: at.cwd, url })).text,
      /^odd\s.*failed\s+LoadUnfinished/mu,
      'nor a fourth time',
    );
    await rm(at.act);
    t.match(await command(['enable', 'odd'], { cwd: at.cwd, url }), { code: 0, text: /odd/u });
    t.match(
      (await command(['list'], { cwd: at.cwd, url })).text,
      /^odd\s.*started/mu,
      'enabled, it is loaded once more',
    );
    t.notOk(existsSync(join(at.cwd, 'data', 'plugin-loads', 'odd')));
    server.child.kill('SIGTERM');
    t.equal(await server.exited(), 0);
  });
}
