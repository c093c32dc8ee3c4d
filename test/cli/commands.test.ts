import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { test } from 'tap';
import type { Test } from 'tap';

import { runCommand } from '../support/server/command-run.ts';
import type { CommandRun, CommandSetting } from '../support/server/command-run.ts';

type Seen = {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly body: unknown;
};
type Reply = { readonly status?: number; readonly body: unknown };

/** Answers with the server's fixed shapes and records the requests. */
async function standIn(
  t: Test,
  replyTo: (seen: Seen) => Reply,
): Promise<{
  readonly url: string;
  readonly seen: Seen[];
  readonly run: (args: readonly string[], setting?: CommandSetting) => Promise<CommandRun>;
}> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { authorization, 'content-type': type } = request.headers;
        const asked = {
          method: request.method ?? '',
          url: request.url ?? '',
          authorization,
          type,
          body: text === '' ? undefined : (JSON.parse(text) as unknown),
        };
        seen.push(asked);
        const { status = 200, body } = replyTo(asked);
        response
          .writeHead(status, {
            'content-type': 'application/json',
            ...(status === 302 ? { location: 'http://127.0.0.1:9/' } : {}),
          })
          .end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    seen,
    run: (args, setting = {}) =>
      runCommand(args, {
        ...setting,
        variables: { LEDGERPLANE_SERVER: url, LEDGERPLANE_TOKEN: 'pat_test', ...setting.variables },
      }),
  };
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

test('user add makes the user, then gives the roles', async (t) => {
  const { seen, run } = await standIn(t, () => ({ status: 201, body: {} }));
  const done = await run(
    [
      'user',
      'add',
      'bob',
      '--display-name',
      'Bob B.',
      '--email',
      'bob@example.com',
      '--role',
      'guest',
      '--role',
      'post-editor',
      '--domain',
      'example.org',
    ],
    { input: 'a secret\n' },
  );
  t.strictSame(done, { code: 0, out: '', err: 'added the user "bob"\n' });
  t.strictSame(
    seen.map(({ method, url, body }) => [method, url, body]),
    [
      [
        'POST',
        '/api/v1alpha1/users',
        {
          apiVersion: 'v1alpha1',
          kind: 'User',
          metadata: { name: 'bob' },
          spec: { displayName: 'Bob B.', email: 'bob@example.com', password: 'a secret' },
        },
      ],
      ['POST', '/apis/api.console.example.org/v1alpha1/users/bob/permissions', { roles: ['guest', 'post-editor'] }],
    ],
  );
  t.ok(seen.every(({ authorization, type }) => authorization === 'Bearer pat_test' && type === 'application/json'));
});

test('a drawn password is printed alone, also when the roles are refused', async (t) => {
  const { seen, run } = await standIn(t, ({ url }) =>
    url.endsWith('/permissions')
      ? { status: 403, body: { message: 'not yours to give', code: 403, reason: 'Forbidden' } }
      : { status: 201, body: {} },
  );
  const done = await run(['user', 'add', 'bob', '--generate', '--role', 'super-role']);
  t.equal(done.code, 1);
  t.match(done.out, /^[\w-]{24}\n$/u);
  t.equal((seen[0]?.body as { spec: { password: string } }).spec.password, done.out.trim());
  t.equal(
    done.err,
    'added the user "bob"\nledgerplane: the user was added, but without roles: not yours to give (403 Forbidden)\n',
  );
});

test("user passwd changes another's password as an administrator, and one's own with the present one", async (t) => {
  const { seen, run } = await standIn(t, () => ({ body: {} }));
  t.equal((await run(['user', 'passwd', 'bob'], { input: 'new one\n' })).code, 0);
  t.equal(
    (
      await run(['user', 'passwd', 'bob', '--user', 'bob'], {
        input: 'new one\n',
        variables: { LEDGERPLANE_PASSWORD: 'old one' },
      })
    ).code,
    0,
  );
  t.strictSame(
    seen.map(({ method, url, body, authorization, type }) => [method, url, body, authorization, type]),
    [
      [
        'PATCH',
        '/api/v1alpha1/users/bob',
        { spec: { password: 'new one' } },
        'Bearer pat_test',
        'application/merge-patch+json',
      ],
      [
        'PUT',
        '/apis/uc.api.svc.run/v1alpha1/users/-/password',
        { currentPassword: 'old one', password: 'new one' },
        basic('bob', 'old one'),
        'application/json',
      ],
    ],
  );
});

test('on a terminal the passwords are asked for and never shown', async (t) => {
  const { seen, run } = await standIn(t, () => ({ body: {} }));
  const done = await run(['user', 'passwd', 'bob', '--user', 'carol'], { typed: 'hers\rnew one\rnew one\r' });
  t.strictSame(done, {
    code: 0,
    out: '',
    err:
      'password of "carol": \nnew password of "bob": \nnew password again: \n' +
      `changed the password of "bob" and ended the user's sessions\n`,
  });
  t.strictSame(
    seen.map(({ authorization, body }) => [authorization, body]),
    [[basic('carol', 'hers'), { spec: { password: 'new one' } }]],
  );
});

test('token create prints the token alone', async (t) => {
  const { seen, run } = await standIn(t, () => ({
    status: 201,
    body: { metadata: { name: 'token-x' }, status: { token: 'pat_made' } },
  }));
  const done = await run([
    'token',
    'create',
    '--description',
    'for tests',
    '--role',
    'guest',
    '--expires',
    '2999-01-01T00:00:00Z',
  ]);
  t.strictSame(done, {
    code: 0,
    out: 'pat_made\n',
    err: 'created the token "token-x", valid until 2999-01-01T00:00:00.000Z; its text is not shown again\n',
  });
  t.equal((await run(['token', 'create'])).out, 'pat_made\n');
  t.strictSame(
    seen.map(({ method, url, body }) => [method, url, body]),
    [
      [
        'POST',
        '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
        {
          metadata: { generateName: 'token-' },
          spec: { description: 'for tests', roles: ['guest'], expiresAt: '2999-01-01T00:00:00.000Z' },
        },
      ],
      [
        'POST',
        '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
        { metadata: { generateName: 'token-' }, spec: {} },
      ],
    ],
  );
});

test('token revoke and list', async (t) => {
  const items = [
    {
      metadata: { name: 'a' },
      spec: { description: 'one', roles: ['guest', 'post-editor'], expiresAt: '2001-01-01T00:00:00.000Z' },
    },
    { metadata: { name: 'b' }, spec: { revoked: true }, status: { lastUsedAt: '2002-01-01T00:00:00.000Z' } },
    { metadata: { name: 'c' }, spec: { roles: [] } },
  ];
  const { seen, run } = await standIn(t, ({ method }) => ({ body: method === 'GET' ? { items } : {} }));
  t.strictSame(await run(['token', 'revoke', 'token x']), { code: 0, out: '', err: 'revoked the token "token x"\n' });
  t.strictSame(
    [seen[0]?.method, seen[0]?.url, seen[0]?.body],
    ['PATCH', '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens/token%20x', { spec: { revoked: true } }],
  );
  t.equal(
    (await run(['token', 'list'])).out,
    [
      'NAME  DESCRIPTION  ROLES              EXPIRES                   LAST USED                 STATE',
      'a     one          guest,post-editor  2001-01-01T00:00:00.000Z  -                         expired',
      'b     -            all of the owner   never                     2002-01-01T00:00:00.000Z  revoked',
      'c     -            -                  never                     -                         good',
      '',
    ].join('\n'),
  );
  const text = `pat_${'0'.repeat(32)}_secret`;
  const refused = await run(['token', 'revoke', text]);
  t.equal(refused.code, 2);
  t.notMatch(refused.err, 'secret');
});

test('role list leaves hidden ones out', async (t) => {
  const role = (name: string, labels: object, annotations: object): object => ({
    metadata: { name, labels, annotations },
  });
  const items = [
    role(
      'z-view',
      { 'svc.run/role-template': 'true' },
      { 'rbac.authorization.svc.run/display-name': 'Z View', 'rbac.authorization.svc.run/module': 'Z' },
    ),
    role('anonymous', { 'svc.run/hidden': 'true' }, {}),
    role('guest', {}, {}),
    role('a-part', { 'svc.run/role-template': 'true', 'svc.run/hidden': 'true' }, {}),
  ];
  const { run } = await standIn(t, () => ({ body: { items } }));
  t.equal(
    (await run(['role', 'list'])).out,
    'NAME    DISPLAY NAME  MODULE\nguest   -             -\nz-view  Z View        Z\n',
  );
  t.equal((await run(['role', 'list', '--templates'])).out, 'NAME    DISPLAY NAME  MODULE\nz-view  Z View        Z\n');
  const names = (table: string): readonly string[] =>
    table
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0] ?? '');
  t.strictSame(names((await run(['role', 'list', '--all'])).out), ['a-part', 'anonymous', 'guest', 'z-view']);
  t.strictSame(names((await run(['role', 'list', '--all', '--templates'])).out), ['a-part', 'z-view']);
});

test('can-i says yes or no, and which role decided', async (t) => {
  const rule = { kind: 'resource', apiGroups: ['content.svc.run'], resources: ['posts'], verbs: ['get', 'list'] };
  const statuses: Readonly<Record<string, object>> = {
    get: { allowed: true, reason: 'by post-editor', grant: { role: 'post-editor', rule } },
    delete: { allowed: false, reason: 'no rule of anonymous, authenticated, post-editor allows it' },
    list: { allowed: true, reason: 'a super administrator may do everything' },
  };
  const { seen, run } = await standIn(t, ({ body }) => {
    const { spec } = body as {
      spec: { resourceAttributes?: { verb: string }; nonResourceAttributes?: { verb: string } };
    };
    return {
      status: 201,
      body: { status: statuses[(spec.resourceAttributes ?? spec.nonResourceAttributes)?.verb ?? ''] },
    };
  });
  t.strictSame(await run(['can-i', 'get', 'posts.content.svc.run/hello']), {
    code: 0,
    out: 'yes\nrole post-editor\n  apiGroups: ["content.svc.run"]\n  resources: ["posts"]\n  verbs: ["get","list"]\n',
    err: '',
  });
  t.strictSame(await run(['can-i', 'delete', 'posts.content.svc.run', '--as', 'bob']), {
    code: 1,
    out: 'no\nno rule of anonymous, authenticated, post-editor allows it\n',
    err: '',
  });
  t.strictSame(await run(['can-i', 'list', '/metrics']), {
    code: 0,
    out: 'yes\na super administrator may do everything\n',
    err: '',
  });
  t.strictSame(
    seen.map(({ method, url, body }) => [method, url, body]),
    [
      [
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { spec: { resourceAttributes: { verb: 'get', group: 'content.svc.run', resource: 'posts', name: 'hello' } } },
      ],
      [
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        { spec: { resourceAttributes: { verb: 'delete', group: 'content.svc.run', resource: 'posts' }, user: 'bob' } },
      ],
      [
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { spec: { nonResourceAttributes: { path: '/metrics', verb: 'list' } } },
      ],
    ],
  );
  const unsure = await run(['can-i', 'watch', 'posts']);
  t.match(
    unsure,
    { code: 1, out: '', err: /does not state whether/u },
    'an answer without an answer is a failure, and not a no',
  );
});

test('the administrator of this machine is the default', async (t) => {
  const { url, seen, run } = await standIn(t, ({ authorization }) =>
    authorization === basic('admin', 'drawn one')
      ? { body: { items: [] } }
      : { status: 401, body: { message: 'credentials are not valid', reason: 'Unauthorized' } },
  );
  const folder = t.testdir({ data: { 'admin-password': 'drawn one\n' }, other: { 'admin-password': 'stale one\n' } });
  const anonymous = { LEDGERPLANE_TOKEN: '' };
  t.equal((await run(['role', 'list'], { folder, variables: anonymous })).code, 0);
  t.equal(
    (
      await run(['role', 'list'], {
        folder,
        variables: { PORT: new URL(url).port, ...anonymous, LEDGERPLANE_SERVER: '' },
      })
    ).code,
    0,
    'HOST and PORT say where',
  );
  const stale = await run(['role', 'list'], { folder, variables: { ...anonymous, DATA_DIR: 'other' } });
  t.equal(stale.code, 1);
  t.match(
    stale.err,
    new RegExp(
      String.raw`^ledgerplane: credentials are not valid \(401 Unauthorized\)\nledgerplane: the password in ` +
        '.*other/admin-password is no longer the password of admin',
      'u',
    ),
  );
  t.equal(seen.length, 3);
  const own = await run(['user', 'passwd', 'admin'], { folder, variables: anonymous, input: 'new one\n' });
  t.match(own, { code: 0, err: /is no longer valid/u });

  for (const setting of [
    { folder: t.testdir(), variables: anonymous },
    { folder, variables: { ...anonymous, LEDGERPLANE_SERVER: 'http://ledger.example.com' } },
  ]) {
    const nobody = await run(['role', 'list'], setting);
    t.equal(nobody.code, 2);
    t.match(nobody.err, /LEDGERPLANE_TOKEN/u);
  }
});

test('a refusal of the server is printed with its status', async (t) => {
  let reply: Reply = { body: '' };
  const { run } = await standIn(t, () => reply);
  const messageFor = async (status: number, body: unknown): Promise<string> => {
    reply = { status, body };
    const done = await run(['role', 'list']);
    t.equal(done.code, 1);
    t.equal(done.out, '');
    return done.err;
  };
  t.equal(
    await messageFor(404, { message: 'no such thing', reason: 'NotFound' }),
    'ledgerplane: no such thing (404 NotFound)\n',
  );
  t.equal(
    await messageFor(422, {
      detail: 'a problem',
      reason: 'Invalid',
      errors: [
        { pointer: '/spec/a', detail: 'is bad' },
        { pointer: '/spec/b', detail: 'is\u001b[2Jworse' },
      ],
    }),
    'ledgerplane: a problem (422 Invalid)\nledgerplane: /spec/a: is bad\nledgerplane: /spec/b: is\\u001b[2Jworse\n',
  );
  t.equal(await messageFor(502, '<html>'), 'ledgerplane: the server returned no reason (502)\n');
  t.equal(
    await messageFor(302, ''),
    'ledgerplane: the server returned no reason (302)\n',
    'credentials follow no redirect',
  );
  t.match(await messageFor(200, '<html>'), /not JSON/u);
});

test('a server that is not there is named', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  const port = String((server.address() as AddressInfo).port);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  for (const host of ['127.0.0.1', 'localhost']) {
    const done = await runCommand(['role', 'list', '--server', `http://${host}:${port}/base`], {
      variables: { LEDGERPLANE_TOKEN: 'pat_secret' },
    });
    t.strictSame(done, {
      code: 1,
      out: '',
      err:
        `ledgerplane: cannot reach http://${host}:${port}: connection refused (ECONNREFUSED): is the server running? ` +
        'Set LEDGERPLANE_SERVER if it listens at another address\n',
    });
  }
});

test('a plugin disabled by the server is not awaited, and the way back from an uninstall is printed', async (t) => {
  const status = {
    phase: 'stopped',
    observedGeneration: 2,
    conditions: [{ type: 'Ready', status: 'False', reason: 'KeptOff', message: 'PLUGINS_DISABLED names it' }],
  };
  const { seen, run } = await standIn(t, ({ url }) =>
    url.endsWith('/loop')
      ? { body: { metadata: { name: 'loop', generation: 2 }, status } }
      : { status: 404, body: { message: 'plugins "gone" not found', reason: 'NotFound' } },
  );
  t.strictSame(await run(['plugin', 'enable', 'loop']), {
    code: 1,
    out: '',
    err: 'ledgerplane: the plugin loop is still stopped: KeptOff: PLUGINS_DISABLED names it\n',
  });
  t.equal(seen.length, 1);
  t.match(await run(['plugin', 'enable', 'gone', '--domain', 'example.org']), {
    code: 1,
    out: '',
    err:
      'ledgerplane: POST /apis/plugin.example.org/v1alpha1/plugins {"apiVersion":"plugin.example.org/v1alpha1",' +
      '"kind":"Plugin","metadata":{"name":"gone"},"spec":{}}\n',
  });
  t.match(await run(['plugin', 'disable', 'gone']), {
    code: 1,
    err: 'ledgerplane: plugins "gone" not found (404 NotFound)\n',
  });
});

test('a broken connection is reported, and not taken as an answer', async (t) => {
  const server = createServer((request) => {
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.close();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const done = await runCommand(['token', 'create', '--server', url], {
    variables: { LEDGERPLANE_TOKEN: 'pat_secret' },
  });
  t.equal(done.code, 1);
  t.match(done.err, new RegExp(`^ledgerplane: cannot reach ${url}: .+\\n$`, 'u'));
  t.notMatch(done.err, 'secret');
});

test('mistakes exit with 2, send nothing and repeat no secret', async (t) => {
  const { seen, run } = await standIn(t, () => ({ body: {} }));
  const mistakes: readonly (readonly [args: readonly string[], variables?: Readonly<Record<string, string>>])[] = [
    [['user']],
    [['user', 'add']],
    [['user', 'remove', 'bob']],
    [['user', 'add', 'bob', 'secret']],
    [['user', 'add', 'bob', '--password=secret']],
    [['user', 'add', 'bob', '--password', 'secret']],
    [['user', 'add', '..', '--generate']],
    [['user', 'passwd', '.', '--generate']],
    [['user', 'add', 'bob']],
    [['token', 'create', '--expires', 'soon']],
    [['token', 'revoke', '..']],
    [['role', 'list', '--user', 'bob']],
    [['role', 'list', '--user', 'bob:x']],
    [['role', 'list'], { LEDGERPLANE_TOKEN: 'secret\u00e9' }],
    [['role', 'list', '--server', 'http://bob:secret@127.0.0.1:1']],
    [['role', 'list', '--server', 'secret']],
    [['role', 'list', '--server', 'ftp://secret']],
    [['role', 'list', '--domain', 'No Domain']],
    [['role', 'list'], { LEDGERPLANE_SERVER: '', PORT: '0' }],
    [['can-i', 'get']],
    [['can-i', 'get', 'posts/']],
    [['help', 'nothing']],
  ];
  for (const [args, variables = {}] of mistakes) {
    const done = await run(args, { variables });
    t.equal(done.code, 2, args.join(' '));
    t.match(done.err, /^ledgerplane: .+\n$/u);
    t.notMatch(done.err, 'secret');
    t.equal(done.out, '');
  }
  t.strictSame(seen, []);
});
