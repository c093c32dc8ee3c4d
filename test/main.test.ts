import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from './architecture/repository.ts';
import { runCommandLine } from './support/server/command-line.ts';
import type { CommandLine } from './support/server/command-line.ts';

const readyLine = /^ledgerplane ready on (http:\/\/127\.0\.0\.1:\d+) \(embedded log, (\d+) events, (\d+) types\)$/u;
const settings = { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: 'a password of the test' };

function serve(cwd: string, env: Readonly<Record<string, string>> = {}, nodeArgs: readonly string[] = []): CommandLine {
  return runCommandLine(['serve'], { cwd, env: { ...settings, ...env }, nodeArgs });
}

/** On SIGUSR2 the process does what `statement` says. */
function onSignal(statement: string): readonly string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(`process.once('SIGUSR2', () => { ${statement} });`)}`];
}

test('version and help answer on standard output', async (t) => {
  const cwd = t.testdir();
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  for (const command of ['version', '--version']) {
    const run = runCommandLine([command], { cwd });
    t.equal(await run.exited(), 0);
    t.equal(run.stdout(), `ledgerplane ${version}\n`);
  }
  const help = runCommandLine(['help'], { cwd });
  t.equal(await help.exited(), 0);
  for (const name of [
    'serve',
    'version',
    'help',
    'user',
    'token',
    'role',
    'can-i',
    'plugin',
    'log',
    'OIDC_ISSUER',
    'OIDC_AUDIENCE',
    'OIDC_USERNAME_CLAIM',
    'OIDC_JWKS_URL',
    'LEDGERPLANE_SERVER',
    'LEDGERPLANE_TOKEN',
    'LEDGERPLANE_PASSWORD',
    'HOST',
    'PORT',
    'DATA_DIR',
    'EVENT_LOG',
    'PLATFORM_DOMAIN',
    'PLUGINS_DIRS',
    'PLUGINS_DISABLED',
    'TRUSTED_PROXIES',
    'DISK_RESERVE',
    'ADMIN_PASSWORD',
    'LOG_LEVEL',
    'TLS',
    'TLS_CERT',
    'TLS_KEY',
    'LEDGERPLANE_CA',
  ]) {
    t.match(help.stdout(), new RegExp(`^  ${name} `, 'mu'));
  }
});

test('an unknown command exits with 2 and says so', async (t) => {
  for (const args of [['destroy'], ['serve', 'now'], ['--port=1'], ['version', 'now'], ['help', 'destroy']]) {
    const run = runCommandLine(args, { cwd: t.testdir() });
    t.equal(await run.exited(), 2);
    t.equal(run.stdout(), '');
    t.equal(run.stderr(), `ledgerplane: unknown command "${args.join(' ')}": try ledgerplane help\n`);
  }
});

test('a mistake in a command about objects exits with 2, and a server that is not there with 1', async (t) => {
  const cwd = t.testdir({ data: { 'admin-password': 'a secret of the test\n' } });
  const expected: readonly (readonly [args: readonly string[], code: number, stderr: RegExp])[] = [
    [['user', 'add'], 2, /^ledgerplane: missing required argument 'name': try ledgerplane user add --help\n$/u],
    [
      ['user', 'add', 'bob', '--password=secret'],
      2,
      /^ledgerplane: unknown option '--password': try ledgerplane user add --help\n$/u,
    ],
    [['token', 'list', '--server', 'nowhere'], 2, /^ledgerplane: --server and LEDGERPLANE_SERVER must be addresses/u],
    [['user', 'add', 'bob'], 2, /^ledgerplane: the password is empty/u],
    [
      ['role', 'list', '--server', 'http://127.0.0.1:9'],
      1,
      /^ledgerplane: cannot reach http:\/\/127\.0\.0\.1:9: [^\n]+\n$/u,
    ],
  ];
  for (const [args, code, stderr] of expected) {
    const run = runCommandLine(args, { cwd });
    t.equal(await run.exited(), code, args.join(' '));
    t.equal(run.stdout(), '');
    t.match(run.stderr(), stderr);
  }
});

test('every mistake in the settings is printed, and the process exits with 2', async (t) => {
  const cwd = t.testdir({ '.env': 'LOG_LEVEL=loud\nPORT=1\n' });
  const run = runCommandLine([], { cwd, env: { PORT: 'x', EVENT_LOG: 'esdb://localhost:2113?tls=maybe' } });
  t.equal(await run.exited(), 2);
  t.equal(run.stdout(), '');
  const lines = run.stderr().trimEnd().split('\n');
  t.equal(lines.length, 3);
  for (const name of ['PORT must be', 'EVENT_LOG ', 'LOG_LEVEL must be'])
    t.ok(
      lines.some((line) => line.startsWith(`ledgerplane: ${name}`)),
      name,
    );
});

test('it says on one line where it serves, and stops in order on SIGTERM and SIGINT', async (t) => {
  const cwd = t.testdir();
  let events = -1;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const run = serve(cwd);
    const [, url = '', logged, types] = readyLine.exec(await run.ready()) ?? [];
    t.ok(Number(types) > 0, 'the platform has types of its own');
    t.ok(Number(logged) >= events, 'written events exist at the next start');
    events = Number(logged);
    t.equal((await fetch(`${url}/healthz`)).status, 200);
    run.child.kill(signal);
    t.equal(await run.exited(), 0);
    t.match(run.stdout(), /^[^\n]+\n$/u, 'standard output holds one line');
  }
});

test('logs are JSON lines on standard error', async (t) => {
  const run = serve(t.testdir(), { LOG_LEVEL: 'debug' });
  await run.ready();
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  const lines = run
    .stderr()
    .trimEnd()
    .split('\n')
    .filter((line) => !line.includes('admin-password'));
  t.ok(lines.length > 0);
  for (const line of lines) t.type((JSON.parse(line) as { readonly level: unknown }).level, 'number');
});

test('a second server on one DATA_DIR exits with 2, and the first goes on', async (t) => {
  const cwd = t.testdir();
  const first = serve(cwd);
  const [, url = ''] = readyLine.exec(await first.ready()) ?? [];
  const second = serve(cwd);
  t.equal(await second.exited(), 2);
  t.equal(second.stdout(), '');
  t.match(second.stderr(), /^ledgerplane: .*DATA_DIR/mu);
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  first.child.kill('SIGTERM');
  t.equal(await first.exited(), 0);
});

test('a taken port is a plain message and not a stack', async (t) => {
  const cwd = t.testdir();
  const first = serve(cwd);
  const [, url = ''] = readyLine.exec(await first.ready()) ?? [];
  const second = serve(cwd, { PORT: new URL(url).port, DATA_DIR: 'other' });
  t.not(await second.exited(), 0);
  t.match(second.stderr(), new RegExp(`^ledgerplane: .*${new URL(url).port}`, 'mu'));
  t.notMatch(second.stderr(), /^ {4}at /mu);
  first.child.kill('SIGTERM');
  t.equal(await first.exited(), 0);
});

test('a signal during the start stops it in order', async (t) => {
  const cwd = t.testdir();
  // Sent by the process to itself, before the server is up.
  const run = serve(cwd, {}, [
    '--import',
    'data:text/javascript,' +
      encodeURIComponent(
        "const wait = setInterval(() => { if (process.listenerCount('SIGTERM') > 0) " +
          "{ clearInterval(wait); process.kill(process.pid, 'SIGTERM'); } }, 1);",
      ),
  ]);
  t.equal(await run.exited(), 0);
  const again = serve(cwd);
  t.match(await again.ready(), readyLine);
  again.child.kill('SIGTERM');
  t.equal(await again.exited(), 0);
});

test('a server that waits for its log stops on a signal as in order as any other', async (t) => {
  const run = serve(t.testdir(), { EVENT_LOG: 'esdb://127.0.0.1:9?tls=false' });
  while (!run.stderr().includes('the event log is unavailable; retrying'))
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  t.equal(run.stdout(), '');
  t.match(run.stderr(), /stopped before the start was finished/u);
});

test('a second signal ends it at once, whatever is in flight', async (t) => {
  const run = serve(t.testdir());
  const [, url = ''] = readyLine.exec(await run.ready()) ?? [];
  // A request with an endless body keeps the drain waiting.
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const authorization = Buffer.from(`admin:${settings.ADMIN_PASSWORD}`).toString('base64');
  socket.write(
    `POST /api/v1alpha1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${authorization}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  await new Promise((resolve) => {
    setTimeout(resolve, 300);
  });
  run.child.kill('SIGTERM');
  await new Promise((resolve) => {
    setTimeout(resolve, 200);
  });
  run.child.kill('SIGTERM');
  const ended = await run.exited();
  t.ok(ended === 143 || ended === 0, `exit ${String(ended)}`);
  socket.destroy();
});

test('what nobody caught is logged as fatal and ends it with 1', async (t) => {
  const statements = {
    'uncaught exception': "throw new Error('thrown by the test')",
    'unhandled rejection': "Promise.reject(new Error('thrown by the test'))",
  };
  for (const [kind, statement] of Object.entries(statements)) {
    const run = serve(t.testdir(), {}, onSignal(statement));
    await run.ready();
    run.child.kill('SIGUSR2');
    t.equal(await run.exited(), 1);
    const fatal = run
      .stderr()
      .split('\n')
      .find((line) => line.includes('"level":60'));
    t.match(JSON.parse(fatal ?? '{}'), { level: 60, msg: kind, err: { message: 'thrown by the test' } });
  }
});

test('what Node warns of is a line of the log', async (t) => {
  const run = serve(t.testdir(), {}, onSignal("process.emitWarning('old ways', 'TestWarning', 'TEST0001')"));
  await run.ready();
  run.child.kill('SIGUSR2');
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  const lines = run
    .stderr()
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  t.match(
    lines.find((line) => JSON.stringify(line).includes('TEST0001')),
    { level: 40, warning: 'TestWarning', code: 'TEST0001', msg: 'old ways' },
  );
});

test('it stops in time when nobody reads its logs any more, or has stopped reading', async (t) => {
  for (const leave of ['gone', 'stalled'] as const) {
    const run = serve(
      t.testdir(),
      { LOG_LEVEL: 'trace' },
      onSignal(
        "for (let line = 0; line < 400; line += 1) setTimeout(() => { process.kill(process.pid, 'SIGWINCH'); }, " +
          "line); process.on('SIGWINCH', () => { Promise.reject('a stray text of some length '.repeat(40)); });",
      ),
    );
    await run.ready();
    if (leave === 'gone') run.child.stderr?.destroy();
    else run.child.stderr?.pause();
    run.child.kill('SIGUSR2');
    await new Promise((resolve) => {
      setTimeout(resolve, 1_000);
    });
    run.child.kill('SIGTERM');
    const ended = new Promise((resolve) => {
      run.child.once('exit', resolve);
    });
    const late = setTimeout(() => {
      run.child.kill('SIGKILL');
    }, 10_000);
    t.equal(await ended, 0, leave);
    clearTimeout(late);
    run.child.stderr?.destroy();
  }
});

test('.env is read from the working directory', async (t) => {
  const cwd = t.testdir();
  writeFileSync(join(cwd, '.env'), 'PORT=0\nDATA_DIR=kept here\nADMIN_PASSWORD=a password of the test\nTLS=off\n');
  const run = runCommandLine([], { cwd });
  t.match(await run.ready(), readyLine);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  t.ok(readFileSync(join(cwd, 'kept here', 'log', 'data.mdb')).length > 0);
});
