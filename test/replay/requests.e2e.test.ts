import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { Administration, as, passwordOf } from '../support/server/administration.ts';
import { runCommand } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { create, diffsPath, objectsIn, replay, replaysPath, widget, widgets, widgetsPath } from './replay-stage.ts';

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

function replaysIn(server: TestServer): readonly string[] {
  const folder = join(server.dataDir, 'replay');
  return existsSync(folder) ? readdirSync(folder) : [];
}

test('requests that name what the log does not have are refused, and nothing is written', async (t) => {
  const server = await given(t);
  const last = await create(server, widget('w'));
  const beyond = String(BigInt(last) + 1_000n);
  const epoch = String(10n ** 19n);
  const cases: readonly (readonly [body: object, status: number, message: RegExp])[] = [
    [{ until: beyond }, 400, /position \d+ is beyond the end of the log, \d+/u],
    [{ until: epoch }, 410, /belongs to another epoch/u],
    [{ until: '0' }, 400, /position 0 is before the log’s first event/u],
    [{ until: '1999-01-01T00:00:00Z' }, 400, /1999-01-01T00:00:00\.000Z is before the log’s first event/u],
    [{ until: '2999-01-01T00:00:00Z' }, 400, /is in the future/u],
    [{ until: 'yesterday' }, 400, /"until" must be a position of the log, or a time/u],
    [{ until: 7 }, 400, /"until" must be a string/u],
    [{ print: 'yes' }, 400, /"print" must be true or false/u],
    [{ type: widgets }, 400, /"type" and "name" require "print": true/u],
    [{ print: true, name: 'w' }, 400, /"name" requires "type"/u],
    [{ print: true, type: 'gadgets.example.com' }, 404, /the type "gadgets\.example\.com" is unknown/u],
    [{ print: true, type: 'Not a type' }, 404, /the type "Not a type" is unknown/u],
    [{ sort: 'name' }, 400, /the member "sort" is not known/u],
  ];
  for (const [body, status, message] of cases) {
    const { status: answered, last: problem } = await replay(server, body);
    t.match({ answered, problem }, { answered: status, problem: { message } }, JSON.stringify(body));
  }
  const diffs: readonly (readonly [body: object, message: RegExp])[] = [
    [{ from: '1' }, /"from" and "to" are required/u],
    [{ from: last, to: '1' }, /the first moment is after the second/u],
    [{ from: 'x', to: '1' }, /"from" must be a position/u],
    [{ from: '1', to: 'x' }, /"to" must be a position/u],
    [{ from: '1', to: beyond }, /beyond the end of the log/u],
  ];
  for (const [body, message] of diffs) {
    const { status, last: problem } = await replay(server, body, diffsPath);
    t.match({ status, problem }, { status: 400, problem: { message } }, JSON.stringify(body));
  }
  t.strictSame(replaysIn(server), []);
  t.match((await replay(server)).last, { equal: true }, 'the next replay is served');
});

test('a position of an earlier epoch is gone, and the next epoch is replayed like the first', async (t) => {
  const server = await given(t);
  const before = await create(server, widget('w'));
  await server.close();
  const command = await runCommand(['log', 'new-epoch', '--log', `embedded:${server.dataDir}`]);
  t.equal(command.code, 0, command.err);
  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.match(await replay(again, { until: before }), { status: 410, last: { message: /belongs to another epoch/u } });
  t.match((await replay(again)).last, { equal: true, objects: Number });
  const shown = await replay(again, { print: true, type: widgets });
  t.match(objectsIn(shown), [{ metadata: { name: 'w' } }]);
});

test('one replay runs at a time, and one that nobody waits for ends without a trace', async (t) => {
  const server = await given(t);
  await create(server, widget('w'));
  const leaving = new AbortController();
  const headers = { authorization: `Basic ${Buffer.from(`admin:${testPassword}`).toString('base64')}` };
  const first = fetch(`${server.url}${replaysPath}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{}',
    signal: leaving.signal,
  });
  const second = await replay(server);
  const loser = second.status === 429 ? second : { last: {}, status: (await first).status };
  t.equal(loser.status, 429);
  leaving.abort();
  await first.then(
    async (answer) => answer.text().catch(() => ''),
    () => '',
  );
  // The files of the one that was left are removed before the next one may begin.
  for (;;) {
    const next = await replay(server);
    if (next.status === 429) continue;
    t.match(next.last, { equal: true });
    break;
  }
  t.strictSame(replaysIn(server), []);
});

test('a replay needs a right, and shows objects of types whose history the caller may read', async (t) => {
  const server = await given(t);
  await create(server, widget('w'));
  const administration = new Administration(server.url);
  for (const user of ['nobody', 'auditor', 'confined']) await administration.user(user);
  await administration.bind('auditors', 'role-template-audit-viewer', 'auditor');
  await administration.role('widget-auditor', {
    rules: [
      { apiGroups: ['audit.svc.run'], resources: ['replays'], verbs: ['create'] },
      { apiGroups: ['example.com'], resources: ['widgets/history'], verbs: ['get'] },
    ],
  });
  await administration.bind('widget-auditors', 'widget-auditor', 'confined');
  const typesShownTo = async (user: string, body: object): Promise<readonly string[] | number> => {
    const headers = as(user);
    const answer = await server.call(replaysPath, { method: 'POST', body, headers });
    if (answer.status !== 200) return answer.status;
    const objects = (await answer.text()).split('\n').filter((line) => line.startsWith('{"kind":"Object"'));
    return [...new Set(objects.map((line) => (JSON.parse(line) as { object: { kind: string } }).object.kind))].sort();
  };
  const all = await typesShownTo('auditor', { print: true });
  for (const kind of ['Role', 'User', 'Widget']) t.ok(Array.isArray(all) && all.includes(kind), kind);
  t.strictSame(await typesShownTo('confined', { print: true }), ['Widget']);
  t.strictSame(await typesShownTo('confined', { print: true, type: 'users' }), 403);
  t.strictSame(await typesShownTo('nobody', {}), 403);
  t.match((await server.call(diffsPath, { method: 'POST', body: {}, headers: as('confined') })).status, 403);
});

test('secrets are in nothing that a replay shows', async (t) => {
  const server = await given(t);
  const administration = new Administration(server.url);
  await administration.user('jane');
  const shown = JSON.stringify(await replay(server, { print: true }));
  t.match(shown, /"name":"jane"/u);
  for (const secret of [passwordOf('jane'), testPassword, '$argon2', '$scrypt', 'hash"'])
    t.notOk(shown.includes(secret), secret);
});

const replayed = new RegExp(
  '^position \\d+: \\d+ events, \\d+ objects\naudit indexes: position \\d+, \\d+ events\n' +
    'compared: meta \\d+, .*indexes \\d+, tree \\d+, versions \\d+, times \\d+, events \\d+, columns \\d+\n' +
    'no difference\n$',
  'u',
);

test('the command prints what differs, the state and the changes, and its exit code says so', async (t) => {
  const server = await given(t);
  const first = await create(server, widget('w'));
  await create(server, widget('v'));
  await server.call(`${widgetsPath}/w`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { size: 7 } },
  });
  const run = async (...args: readonly string[]): ReturnType<typeof runCommand> =>
    runCommand(['audit', ...args, '--server', server.url, '--user', 'admin'], {
      variables: { LEDGERPLANE_PASSWORD: testPassword },
    });
  const compared = await run('replay');
  t.match(compared, { code: 0, out: replayed }, compared.err);
  const printed = await run('replay', '--print', '--type', widgets, '--until', first);
  t.match(JSON.parse(printed.out), { metadata: { name: 'w' }, spec: { size: 1 } });
  t.match(printed.err, new RegExp(`^position ${first}: `, 'mu'));
  const none = await run('replay', '--print', '--type', widgets, '--name', 'none');
  t.match(none, { code: 0, out: '', err: /nothing to print: the log has no object with --type \S+ --name none at/u });
  t.match(await run('replay', '--type', widgets), {
    code: 1,
    err: /--type and --name select .*: use them with --print/u,
  });
  t.match(await run('replay', '--print', '--name', 'w'), { code: 1, err: /--name requires --type/u });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  t.match(await run('replay', '--until', later), { code: 1, err: /is in the future/u });
  const changes = await run('diff', first, String(BigInt(first) + 2n), '--type', widgets);
  const lines = changes.out.split('\n').map((line) => (line === '' ? {} : (JSON.parse(line) as object)));
  t.match(lines, [
    { change: 'created', name: 'v' },
    { change: 'changed', name: 'w', patch: [{ path: /./u }] },
  ]);
  t.match(await run('diff', '9', '1'), { code: 1, err: /the first moment is after the second/u });
  t.match(await run('replay', '--until', 'x'), { code: 1, err: /"until" must be a position/u });
});
