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
    `${time}  \\d+  ObjectCreated  widgets.example.com/${name}  admin \\(create\\)  ` +
    `from 127.0.0.1, request make-${name}\n`;
  const both = await audit(server, ['list', ...ofWidgets]);
  t.match(both, { code: 0, out: new RegExp(`^${line('lamp')}${line('bulb')}$`, 'u') }, both.err);
  const newest = await audit(server, ['list', ...ofWidgets, '--newest', '--limit', '1']);
  t.match(newest.out, new RegExp(`^${line('bulb')}$`, 'u'));
  const since = await audit(server, ['list', '--since', last, '--verb', 'create', '--actor', 'admin']);
  t.match(since.out, new RegExp(`^${line('bulb')}$`, 'u'));
  const until = await audit(server, ['list', ...ofWidgets, '--until', first]);
  t.match(until.out, new RegExp(`^${line('lamp')}$`, 'u'));
  for (const option of ['--since', '--until'])
    t.match(await audit(server, ['list', option, 'abc']), {
      code: 1,
      err: new RegExp(`^ledgerplane: ${option} must be a time .*, or a position of the log, is "abc"\n$`, 'u'),
    });
  t.match(await audit(server, ['list', '--name', 'no,such=name', '--until', first]), {
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

test('audit list says that more events follow, and how to list them', async (t) => {
  const server = await given(t);
  const positions: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) positions.push(await make(server, name));
  const namesOf = ({ out }: CommandRun): string =>
    [...out.matchAll(/widgets.example.com\/(\w)/gu)].map(([, name]) => name).join('');
  const first = await audit(server, ['list', ...ofWidgets, '--limit', '2']);
  t.match(first, {
    code: 0,
    err: /^ledgerplane: more events match: list them with --since \d+, raise --limit, or .*--newest\n$/u,
  });
  const [, since = ''] = /--since (\d+)/u.exec(first.err) ?? [];
  const second = await audit(server, ['list', ...ofWidgets, '--since', since, '--limit', '3']);
  t.strictSame([namesOf(first), namesOf(second), second.err], ['ab', 'cde', ''], 'the last page has no note');
  const newest = await audit(server, ['list', ...ofWidgets, '--newest', '--limit', '4']);
  t.match(newest.err, /^ledgerplane: older events match: list them with --until \d+, raise --limit\n$/u);
  const [, until = ''] = /--until (\d+)/u.exec(newest.err) ?? [];
  const oldest = await audit(server, ['list', ...ofWidgets, '--newest', '--until', until]);
  t.strictSame([namesOf(newest), namesOf(oldest), oldest.err], ['edcb', 'a', '']);
  const json = await audit(server, ['list', ...ofWidgets, '--limit', '1', '--output', 'json']);
  t.equal(json.out.split('\n').length, 2, 'the note is not on standard output');
});

test('audit list finds a type by its names, and says which types it cannot find', async (t) => {
  const server = await given(t);
  const of = async (type: string): Promise<CommandRun> => audit(server, ['list', '--type', type]);
  t.strictSame(await of('widget'), { code: 0, out: '', err: '' }, 'a type that has no events yet');
  await make(server, 'lamp');
  const { out } = await of('widgets.example.com');
  t.match(out, /widgets.example.com\/lamp/u);
  for (const type of ['widgets', 'Widget', 'widget.example.com'])
    t.strictSame(await of(type), { code: 0, out, err: '' });
  t.match((await of('platform')).out, /platform\//u, 'a category of streams');
  t.match((await of('users')).out, /users\/admin/u, 'a type of the core group');
  for (const type of ['lamps', 'lamps.example.com', 'lease'])
    t.match(await of(type), {
      code: 1,
      out: '',
      err: new RegExp(`no event has the type "${type}", and the server`, 'u'),
    });
  t.match(await of('no,such'), { code: 2, err: /"no,such" is not a type: write <plural> or <plural>.<group>/u });
  t.match(await audit(server, ['follow', '--type', 'lamps']), { code: 1, err: /no event has the type "lamps"/u });
});

test('events are found by request, correlation, uid, address and other members', async (t) => {
  const server = await given(t);
  await make(server, 'lamp');
  await make(server, 'bulb');
  const { out: json } = await audit(server, ['list', '--name', 'lamp', ...ofWidgets, '--output', 'json']);
  const { uid, correlationId } = JSON.parse(json) as { readonly uid: string; readonly correlationId: string };
  for (const more of [
    ['--request-id', 'make-lamp'],
    ['--correlation', correlationId, ...ofWidgets],
    ['--uid', uid, '--verb', 'create'],
    ['--address', '127.0.0.1', '--where', 'name=lamp,event=ObjectCreated'],
  ]) {
    const { code, out, err } = await audit(server, ['list', ...more]);
    t.equal(code, 0, err);
    t.match(out, /^\S+ {2}\d+ {2}ObjectCreated {2}widgets.example.com\/lamp .*\n$/u, more.join(' '));
  }
  t.match(await audit(server, ['list', '--where', 'colour=red']), {
    code: 1,
    err: /field label not supported: colour/u,
  });
});

test('audit follow prints what happens after a position', async (t) => {
  const server = await given(t);
  const first = await make(server, 'lamp');
  await make(server, 'bulb');
  const following = audit(server, ['follow', ...ofWidgets, '--since', first, '--limit', '2']);
  await make(server, 'vase');
  const { code, out, err } = await following;
  t.equal(code, 0, err);
  const line = (name: string): string => String.raw`\S+ {2}\d+ {2}ObjectCreated {2}widgets\.example\.com/${name} .*\n`;
  t.match(out, new RegExp(`^${line('bulb')}${line('vase')}$`, 'u'));
});

test('what the commands cannot do, they say', async (t) => {
  const server = await given(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['list', '--limit', 'many'], /--limit must be a whole number of at least 1/u],
    [['list', '--output', 'yaml'], /--output must be text or json/u],
    [['list', '--since', 'yesterday'], /--since must be a time \(RFC 3339\), such as .*, is "yesterday"/u],
    [['list', '--since', '999999'], /position 999999 is beyond the head/u],
    [['follow', '--since', 'yesterday'], /--since must be a position of the log/u],
    [['follow', '--since', '99999999999999999999'], /belongs to another event log/u],
  ];
  for (const [args, reason] of cases) {
    const { code, err } = await audit(server, args);
    t.not(code, 0, args.join(' '));
    t.match(err, reason);
  }
});
