import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import t, { test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';

t.setTimeout(120_000);

const env = { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: 'a password of the test', LOG_LEVEL: 'warn' };

test('too few file descriptors end the start with an error that names the limit to raise', async (t) => {
  const cwd = t.testdir();
  for (const openFilesMax of [24, 32, 40, 100]) {
    for (const args of openFilesMax === 32 ? [['log', 'info']] : [['serve']]) {
      const run = runCommandLine(args, { cwd, env, openFilesMax });
      t.equal(await run.exited(), 1, `${args.join(' ')} with ${String(openFilesMax)}: ${run.stderr()}`);
      t.match(
        run.stderr(),
        /^ledgerplane: the process cannot open enough files: [^\n]+ to 1024 or more \(ulimit -n[^\n]+\n$/u,
      );
    }
  }
});

test('a server without free descriptors continues when some are free again', async (t) => {
  const run = runCommandLine(['serve'], { cwd: t.testdir(), env, openFilesMax: 300 });
  const [, url = ''] = /(http:\S+)/u.exec(await run.ready()) ?? [];
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let opened = 0; opened < 400; opened += 1) {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect').catch(() => undefined);
  }
  for (const socket of sockets) socket.destroy();
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0, run.stderr());
});
