/** `ledgerplane history`, against a real server. */
import { test, type Test } from 'tap';

import { runCommand, type CommandSetting } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const colour = '\u001b[';

async function given(t: Test): Promise<{
  readonly server: TestServer;
  readonly run: (args: readonly string[], setting?: CommandSetting) => ReturnType<typeof runCommand>;
}> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    const headers = method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
    const answer = await server.call(path, { method, body, ...headers });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await send('POST', widgets, { metadata: { name: 'lamp', labels: { old: 'yes' } }, spec: { title: 'one' } });
  await send('PATCH', `${widgets}/lamp`, {
    metadata: { labels: { old: null }, annotations: { note: 'a\u001b[31m\u202e' } },
    spec: { title: 'two' },
  });
  await send('DELETE', `${widgets}/lamp`);
  const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword };
  return {
    server,
    run: (args, setting = {}) =>
      runCommand(['history', ...args, '--user', 'admin'], {
        ...setting,
        variables: { ...variables, ...setting.variables },
      }),
  };
}

test('history prints the events of an object, the newest first, with what each changed', async (t) => {
  const { run } = await given(t);
  const { code, out, err } = await run(['widgets', 'lamp']);
  t.strictSame([code, err], [0, '']);
  t.strictSame(
    [...out.matchAll(/^\S+Z {2}(\w+) {2}version (\d) {2}admin \((\w+)\)$/gmu)].map((found) => found.slice(1)),
    [
      ['ObjectDeleted', '3', 'delete'],
      ['ObjectDeletionRequested', '2', 'delete'],
      ['ObjectUpdated', '1', 'patch'],
      ['ObjectCreated', '0', 'create'],
    ],
  );
  t.match(out, /^ {2}~ \/spec\/title "two"$/mu);
  t.match(out, /^ {2}- \/metadata\/labels$/mu);
  t.match(out, /^ {2}\+ \/ \{.*"title":"one".*\}$/mu);
  t.match(out, /^ {2}request \S+, from 127\.0\.0\.1$/mu);

  t.notMatch(out, /[\u001b\u202e]/u);
});

test('history has colours on a terminal only, and none where NO_COLOR is set', async (t) => {
  const { run } = await given(t);
  const coloured = await run(['widgets', 'lamp'], { isTerminal: true });
  t.ok(coloured.out.includes(`${colour}33m  ~ /spec/title "two"${colour}0m\n`), coloured.out);
  t.ok(coloured.out.includes(`${colour}31m  - /metadata/labels${colour}0m\n`));
  const plain = await run(['widgets', 'lamp'], { isTerminal: true, variables: { NO_COLOR: '1' } });
  t.notOk(plain.out.includes(colour));
  t.equal(plain.out, (await run(['widgets', 'lamp'])).out);
});

test('a type is its plural, singular or kind, with its group or without', async (t) => {
  const { run, server } = await given(t);
  const { out } = await run(['widgets', 'lamp']);
  for (const type of ['widget', 'Widget', 'widgets.example.com', 'WIDGETS'])
    t.equal((await run([type, 'lamp'])).out, out, type);
  t.match((await run(['users', 'admin', '--limit', '1'])).out, /ObjectCreated/u);
  const unknown = await run(['lamps', 'lamp']);
  t.equal(unknown.code, 1);
  t.match(unknown.err, /the server has no type lamps/u);
  t.match((await run(['lamps.example.com', 'lamp'])).err, /404 NotFound/u);
  const plugin = '/apis/plugin.svc.run/v1alpha1/plugins/example';
  const headers = { 'content-type': 'application/merge-patch+json' };
  await server.call(plugin, { method: 'PATCH', body: { spec: { enabled: false } }, headers });
  while ((await server.call(`${widgets}/lamp`)).status !== 404) await new Promise(setImmediate);
  t.equal((await run(['widgets.example.com', 'lamp'])).out, out, 'also once the type is not served any more');
});

test('history prints JSON, a limit of entries, and those of one uid', async (t) => {
  const { run } = await given(t);
  const json = async (...args: readonly string[]): Promise<readonly { readonly uid: string }[]> =>
    JSON.parse((await run(['widgets', 'lamp', '--output', 'json', ...args])).out) as readonly {
      readonly uid: string;
    }[];
  const all = await json();
  t.equal(all.length, 4);
  t.strictSame(await json('--limit', '3'), all.slice(0, 3));
  t.strictSame(await json('--uid', all[0]?.uid ?? ''), all);
  const nobody = await run(['widgets', 'lamp', '--uid', 'nobody']);
  t.equal(nobody.code, 1);
  t.match(nobody.err, /not found with the uid "nobody"/u);
});

test('mistaken words of history are refused before anything is sent', async (t) => {
  for (const [args, words] of [
    [['widgets', 'lamp', '--limit', '0'], /--limit must be a whole number of at least 1/u],
    [['widgets', 'lamp', '--limit', 'x'], /--limit must be a whole number of at least 1/u],
    [['widgets', 'lamp', '--output', 'yaml'], /--output must be text or json/u],
    [['widgets'], /missing required argument 'name'/u],
  ] as const) {
    const { code, err } = await runCommand(['history', ...args], {
      variables: { LEDGERPLANE_SERVER: 'http://127.0.0.1:9' },
    });
    t.equal(code, 2, args.join(' '));
    t.match(err, words);
  }
});
