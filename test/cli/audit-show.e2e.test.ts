/** `audit show` against a running server. */
import { test, type Test } from 'tap';

import { Administration, passwordOf } from '../support/server/administration.ts';
import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

type Shown = {
  readonly server: TestServer;
  /** The position of the first state. */
  readonly first: string;
  readonly show: (args: readonly string[], user?: string) => Promise<CommandRun>;
};

async function given(t: Test): Promise<Shown> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const body = { metadata: { name: 'lamp', annotations: { note: 'a\u001b[31m\u202e' } }, spec: { title: 'one' } };
  const made = (await (await server.call(widgets, { method: 'POST', body })).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  await server.call(`${widgets}/lamp`, { method: 'DELETE' });
  const show = async (args: readonly string[], user = 'admin'): Promise<CommandRun> =>
    runCommand(['audit', 'show', ...args, '--server', server.url, '--user', user], {
      variables: { LEDGERPLANE_PASSWORD: user === 'admin' ? testPassword : passwordOf(user) },
    });
  return { server, first: made.metadata.resourceVersion, show };
}

test('audit show prints an object as it was, also one that is gone', async (t) => {
  const { first, show } = await given(t);
  const { code, out, err } = await show(['widgets', 'lamp', '--at', first]);
  t.strictSame([code, err], [0, '']);
  t.match(out, /^apiVersion: example\.com\/v1alpha1\nkind: Widget\nmetadata:\n[^]*^spec:\n {2}title: one\n$/mu);
  t.notMatch(out, /[\u001b\u202e]/u, 'nothing that a terminal interprets');
  t.equal((await show(['Widget', 'lamp', '--at', first])).out, out, 'a type by any of its names');
  const json = await show(['widgets.example.com', 'lamp', '--at', first, '--output', 'json']);
  t.match(JSON.parse(json.out), { kind: 'Widget', metadata: { resourceVersion: first }, spec: { title: 'one' } });
});

test('audit show says why there is nothing to show', async (t) => {
  const { first, show, server } = await given(t);
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['widgets', 'lamp'], 2, /required option '--at <moment>' not specified/u],
    [['widgets', 'lamp', '--at', first, '--output', 'xml'], 2, /--output must be yaml or json/u],
    [['widgets', 'bulb', '--at', first], 1, /"bulb" not found at position \d+ \(404 NotFound\)/u],
    [['widgets', 'lamp', '--at', 'lately'], 1, /at: must be one position of the log or one time/u],
    [['lamps', 'lamp', '--at', first], 1, /the server has no type lamps/u],
  ];
  for (const [args, code, reason] of cases) t.match(await show(args), { code, out: '', err: reason }, args.join(' '));
  const administration = new Administration(server.url);
  await administration.user('jane');
  await administration.bind('jane-audits', 'role-template-audit-viewer', 'jane');
  t.match(
    await show(['widgets', 'lamp', '--at', first], 'jane'),
    { code: 1, out: '', err: /403 Forbidden/u },
    'the right to the history is no right to past states',
  );
});
