import { test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import type { CommandLineOptions } from '../support/server/command-line.ts';
import { startTestServer, testPassword } from '../support/server/start-server.ts';
import type { TestServer } from '../support/server/start-server.ts';

type Ended = { readonly code: number | NodeJS.Signals | null; readonly out: string; readonly err: string };

/** The program as its users run it, against a server as they run it. */
async function ask(
  server: TestServer,
  args: readonly string[],
  options: Partial<CommandLineOptions> = {},
): Promise<Ended> {
  const env = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword, ...options.env };
  const run = runCommandLine(args, { cwd: server.dataDir, ...options, env });
  const code = await run.exited();
  return { code, out: run.stdout(), err: run.stderr() };
}

async function started(t: { teardown(task: () => Promise<void>): unknown }): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

test('a user is added with roles, changes the password, and makes tokens', async (t) => {
  const server = await started(t);
  const first = 'the first password';
  t.strictSame(
    await ask(
      server,
      ['user', 'add', 'bob', '--display-name', 'Bob', '--email', 'bob@example.com', '--role', 'post-editor'],
      { input: `${first}\n` },
    ),
    { code: 0, out: '', err: 'added the user "bob"\n' },
  );
  const user = (await (await server.call('/api/v1alpha1/users/bob')).json()) as {
    readonly spec: Readonly<Record<string, unknown>>;
  };
  t.match(user.spec, { displayName: 'Bob', email: 'bob@example.com' });
  t.notMatch(JSON.stringify(user), first);

  const asBob = (password: string): Readonly<Record<string, string>> => ({ LEDGERPLANE_PASSWORD: password });
  t.match(await ask(server, ['can-i', 'get', 'posts.content.svc.run', '--user', 'bob'], { env: asBob(first) }), {
    code: 0,
    out: /^yes\nrole content-posts-view\n {2}apiGroups: /u,
    err: '',
  });
  t.match(await ask(server, ['can-i', 'delete', 'users', '--user', 'bob'], { env: asBob(first) }), {
    code: 1,
    out: /^no\n.*post-editor/u,
    err: '',
  });
  t.match(await ask(server, ['can-i', 'delete', 'users/carol', '--as', 'bob']), { code: 1, out: /^no\n/u });
  t.match(await ask(server, ['can-i', 'delete', 'users/carol']), { code: 0, out: /^yes\n/u });

  const second = 'the second password';
  t.match(await ask(server, ['user', 'passwd', 'bob', '--user', 'bob'], { env: asBob(first), input: `${second}\n` }), {
    code: 0,
    out: '',
  });
  t.match(await ask(server, ['role', 'list', '--user', 'bob'], { env: asBob(first) }), {
    code: 1,
    out: '',
    err: /^ledgerplane: .*\(401 Unauthorized\)\n$/u,
  });
  const third = await ask(server, ['user', 'passwd', 'bob', '--generate']);
  t.equal(third.code, 0);
  t.match(third.out, /^[\w-]{24}\n$/u);

  const made = await ask(
    server,
    ['token', 'create', '--user', 'bob', '--description', 'of the test', '--role', 'post-editor', '--expires', '30d'],
    { env: asBob(third.out.trim()) },
  );
  t.equal(made.code, 0, made.err);
  t.match(made.out, /^pat_[0-9a-f]{32}_[\w-]{43}\n$/u);
  const asToken = { LEDGERPLANE_TOKEN: made.out.trim(), LEDGERPLANE_PASSWORD: '' };
  t.match(await ask(server, ['can-i', 'get', 'posts.content.svc.run'], { env: asToken }), { code: 0 });
  t.match(await ask(server, ['token', 'create'], { env: asToken }), { code: 1, out: '', err: /\(403 Forbidden\)\n$/u });

  const listed = await ask(server, ['token', 'list', '--user', 'bob'], { env: asBob(third.out.trim()) });
  const [, name = '', rest = ''] = /^(\S+) +(of the test +post-editor +\S+ +\S+ +good)$/mu.exec(listed.out) ?? [];
  t.not(name, '', listed.out + listed.err);
  t.not(rest, '');
  t.match(await ask(server, ['token', 'revoke', name, '--user', 'bob'], { env: asBob(third.out.trim()) }), {
    code: 0,
    out: '',
  });
  t.match(await ask(server, ['role', 'list'], { env: asToken }), { code: 1, err: /\(401 Unauthorized\)\n$/u });
  t.match((await ask(server, ['token', 'list', '--user', 'bob'], { env: asBob(third.out.trim()) })).out, /revoked$/mu);
});

test('roles are listed, hidden ones left out', async (t) => {
  const server = await started(t);
  const names = async (...more: readonly string[]): Promise<readonly string[]> => {
    const { code, out, err } = await ask(server, ['role', 'list', ...more]);
    t.equal(code, 0, err);
    return out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0] ?? '');
  };
  const shown = await names();
  for (const name of ['guest', 'post-author', 'post-contributor', 'post-editor', 'super-role'])
    t.ok(shown.includes(name), name);
  for (const name of ['anonymous', 'authenticated']) t.notOk(shown.includes(name), name);
  const all = await names('--all');
  for (const name of ['anonymous', 'authenticated', ...shown]) t.ok(all.includes(name), name);
  t.ok((await names('--templates')).every((name) => shown.includes(name)));
});

test('a refusal of the server is printed, without the password', async (t) => {
  const server = await started(t);
  t.match(await ask(server, ['user', 'add', 'admin'], { input: 'a long password\n' }), {
    code: 1,
    out: '',
    err: /\(409 AlreadyExists\)\n$/u,
  });
  const short = await ask(server, ['user', 'add', 'bob'], { input: 'qz7\n' });
  t.match(short, { code: 1, out: '', err: /\(422 Invalid\)/u });
  t.notMatch(short.err, 'qz7');
  const roles = await ask(server, ['user', 'add', 'bob', '--role', 'none-such'], { input: 'a long password\n' });
  t.match(roles, { code: 1, err: /^added the user "bob"\nledgerplane: the user was added, but without roles: /u });
  t.match(await ask(server, ['token', 'revoke', 'none-such']), { code: 1, err: /\(404 NotFound\)\n$/u });
});
