/** `audit list` and `audit follow` against a running server. */
import { test, type Test } from 'tap';

import { runCommand, type CommandRun, type CommandSetting } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

const widgetsPath = '/apis/example.com/v1alpha1/widgets';

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

async function make(server: TestServer, name: string): Promise<string> {
  const body = { metadata: { name }, spec: { title: name } };
  const headers = { 'x-request-id': `make-${name}` };
  const answer = await server.call(widgetsPath, { method: 'POST', body, headers });
  if (answer.status !== 201) throw new Error(await answer.text());
  return ((await answer.json()) as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion;
}

async function audit(server: TestServer, args: readonly string[], setting: CommandSetting = {}): Promise<CommandRun> {
  return runCommand(['audit', ...args, '--server', server.url, '--user', 'admin'], {
    ...setting,
    variables: { LEDGERPLANE_PASSWORD: testPassword },
  });
}

const time = String.raw`\d{4}-\d{2}-\d{2}T[0-9:.]+Z`;
const ofWidgets = ['--type', 'widgets.example.com'];

test('audit list prints a line for each event', async (t) => {
  const server = await given(t);
  const first = await make(server, 'lamp');
  const last = await make(server, 'bulb');
  const line = (name: string): string =>
    `${time}  ObjectCreated  widgets.example.com/${name}  admin \\(create\\)  ` +
    `from 127.0.0.1, request make-${name}\n`;
  const both = await audit(server, ['list', ...ofWidgets]);
  t.match(both, { code: 0, out: new RegExp(`^${line('lamp')}${line('bulb')}$`, 'u') }, both.err);
  const newest = await audit(server, ['list', ...ofWidgets, '--newest', '--limit', '1']);
  t.match(newest.out, new RegExp(`^${line('bulb')}$`, 'u'));
  const since = await audit(server, ['list', '--since', last, '--verb', 'create', '--actor', 'admin']);
  t.match(since.out, new RegExp(`^${line('bulb')}$`, 'u'));
  const until = await audit(server, ['list', ...ofWidgets, '--until', first]);
  t.match(until.out, new RegExp(`^${line('lamp')}$`, 'u'));
  t.match(await audit(server, ['list', '--name', 'no,such=name', '--until', '2026-01-01T00:00:00Z']), {
    code: 0,
    out: '',
  });
});

test('colours are for terminals, and JSON is a line for each event', async (t) => {
  const server = await given(t);
  await make(server, 'lamp');
  const coloured = await audit(server, ['list', '--name', 'lamp'], { isTerminal: true });
  t.match(coloured.out, /\u001b\[32mObjectCreated\u001b\[0m/u);
  const { out } = await audit(server, ['list', '--limit', '3', '--output', 'json']);
  const lines = out.split('\n').slice(0, -1);
  t.equal(lines.length, 3);
  for (const line of lines) t.match(JSON.parse(line), { kind: 'Event', position: /^\d+$/u });
});

test('audit follow prints what happens after a position', async (t) => {
  const server = await given(t);
  const first = await make(server, 'lamp');
  await make(server, 'bulb');
  const following = audit(server, ['follow', ...ofWidgets, '--since', first, '--limit', '2']);
  await make(server, 'vase');
  const { code, out, err } = await following;
  t.equal(code, 0, err);
  t.match(
    out,
    /^\S+ {2}ObjectCreated {2}widgets.example.com\/bulb .*\n\S+ {2}ObjectCreated {2}widgets.example.com\/vase .*\n$/u,
  );
});

test('what the commands cannot do, they say', async (t) => {
  const server = await given(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['list', '--limit', 'many'], /--limit must be a whole number from 1/u],
    [['list', '--output', 'yaml'], /--output must be text or json/u],
    [['list', '--since', 'yesterday'], /time: must be an RFC 3339 time/u],
    [['list', '--since', '999999'], /position 999999 is beyond the head/u],
    [['follow', '--since', 'yesterday'], /--since must be a position of the log/u],
    [['follow', '--since', '99999999999999999999'], /is not of this event log/u],
  ];
  for (const [args, reason] of cases) {
    const { code, err } = await audit(server, args);
    t.not(code, 0, args.join(' '));
    t.match(err, reason);
  }
});
