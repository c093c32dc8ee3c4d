/** `audit follow` over cut connections, restarts and refusals. */
import { test, type Test } from 'tap';

import { quickClock } from '../support/clocks/quick-clock.ts';
import { Administration, core, passwordOf } from '../support/server/administration.ts';
import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { TcpProxy } from '../support/server/tcp-proxy.ts';

const widgetsPath = '/apis/example.com/v1alpha1/widgets';

type Following = {
  readonly run: Promise<CommandRun>;
  /** Resolves when the command has printed the text. */
  readonly printed: (text: string) => Promise<void>;
};

async function given(t: Test): Promise<{ readonly server: TestServer; readonly proxy: TcpProxy }> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const proxy = await TcpProxy.start(server.url);
  t.teardown(() => proxy.close());
  return { server, proxy };
}

async function make(server: TestServer, name: string): Promise<string> {
  const answer = await server.call(widgetsPath, {
    method: 'POST',
    body: { metadata: { name }, spec: { title: name } },
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  const { metadata } = (await answer.json()) as { readonly metadata: { readonly resourceVersion: string } };
  return metadata.resourceVersion;
}

function follow(url: string, args: readonly string[], user = 'admin'): Following {
  let all = '';
  const awaited = new Map<string, () => void>();
  const onText = (text: string): void => {
    all += text;
    for (const [wanted, found] of awaited) if (all.includes(wanted)) found();
  };
  const words = ['audit', 'follow', '--type', 'widgets.example.com', '--server', url, '--user', user, ...args];
  const run = runCommand(words, {
    variables: { LEDGERPLANE_PASSWORD: user === 'admin' ? testPassword : passwordOf(user) },
    clock: quickClock(),
    onText,
  });
  const printed = async (text: string): Promise<void> =>
    all.includes(text) ? undefined : new Promise((resolve) => awaited.set(text, resolve));
  return { run, printed };
}

const namesIn = ({ out }: CommandRun): readonly (string | undefined)[] =>
  [...out.matchAll(/widgets\.example\.com\/(\w+)/gu)].map(([, name]) => name);

test('after a cut and a restart of the server, follow goes on behind the last event', async (t) => {
  const { server, proxy } = await given(t);
  const since = await make(server, 'lamp');
  const last = await make(server, 'bulb');
  const { run, printed } = follow(proxy.url, ['--since', since, '--limit', '3']);
  await printed('/bulb');
  proxy.cut();
  await make(server, 'vase');
  await printed('/vase');
  proxy.target = undefined;
  const again = await server.restart();
  t.teardown(() => again.remove());
  await make(again, 'desk');
  proxy.target = Number(new URL(again.url).port);
  const done = await run;
  t.equal(done.code, 0, done.err);
  t.strictSame(namesIn(done), ['bulb', 'vase', 'desk'], 'each event once');
  t.match(done.err, new RegExp(`^ledgerplane: the connection .* was lost.*: continuing after position ${last} `, 'mu'));
  t.match(done.err, /^ledgerplane: connected again$/mu);
});

test('follow ends with an error where it cannot go on', async (t) => {
  const { server, proxy } = await given(t);
  const since = await make(server, 'lamp');
  const administration = new Administration(server.url);
  await administration.user('jane');
  await administration.bind('jane-audits', 'role-template-audit-viewer', 'jane');
  await make(server, 'bulb');
  const refused = follow(proxy.url, ['--since', since], 'jane');
  await refused.printed('/bulb');
  await administration.call('DELETE', core('rolebindings', 'jane-audits'));
  t.match(await refused.run, { code: 1, err: /cannot continue after position \d+: this watch is no longer allowed/u });

  const foreign = await startTestServer();
  t.teardown(() => foreign.remove());
  for (let number = 0; number < 5; number += 1) await make(server, `w${String(number)}`);
  const other = follow(proxy.url, ['--since', since]);
  await other.printed('/w4');
  proxy.target = Number(new URL(foreign.url).port);
  proxy.cut();
  t.match(await other.run, {
    code: 1,
    err: /cannot continue after position \d+: .*is ahead of the log, which ends at/u,
  });

  proxy.target = undefined;
  t.match(await follow(proxy.url, ['--since', since]).run, { code: 1, err: /^ledgerplane: cannot reach [^\n]+\n$/u });
});
