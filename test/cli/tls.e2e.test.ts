import { readFileSync, statSync, readdirSync, chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { execTokenMarginMs, execTokenMs } from '../../src/limits/settings.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { askTls } from '../support/server/ask-tls.ts';
import { runCommand, type CommandSetting } from '../support/server/command-run.ts';
import { adminAuthorization, startTestServer, testPassword } from '../support/server/start-server.ts';

const password = { LEDGERPLANE_PASSWORD: testPassword };

async function given(t: Test, TLS: 'auto' | 'off' = 'auto') {
  const server = await startTestServer({ environment: { TLS } });
  t.teardown(async () => server.remove());
  const { port } = new URL(server.url);
  const variables = { TLS, DATA_DIR: server.dataDir, PORT: port, ...password };
  const run = async (
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
    setting: CommandSetting = {},
  ) => runCommand(args, { ...setting, variables: { ...variables, ...more } });
  const ca = join(server.dataDir, 'tls', 'ca.crt');
  return { server, port, run, ca };
}

type User = { token?: string; exec?: Exec };
type Exec = {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};
type Kubeconfig = {
  readonly kind: string;
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; 'certificate-authority-data'?: string } },
  ];
  readonly users: readonly [{ readonly name: string; readonly user: User }];
};
type Credential = { readonly status: { readonly token: string; readonly expirationTimestamp: string } };

test('commands use HTTPS as TLS says, and trust the authority in DATA_DIR or in LEDGERPLANE_CA', async (t) => {
  const { run, port, ca } = await given(t);
  t.match(await run(['role', 'list']), { code: 0, err: '' });
  t.match(await run(['role', 'list', '--server', `https://localhost:${port}`], { TLS: 'off' }), { code: 0, err: '' });
  const elsewhere = { DATA_DIR: '/nonexistent', ...password };
  const unknown = await run(['role', 'list', '--user', 'admin'], elsewhere);
  t.equal(unknown.code, 1);
  t.match(
    unknown.err,
    new RegExp(
      String.raw`^ledgerplane: cannot reach https://127\.0\.0\.1:\d+: the server's certificate was issued by an ` +
        String.raw`unknown authority \(\w+\): set LEDGERPLANE_CA`,
      'u',
    ),
  );
  t.match(await run(['role', 'list'], { ...elsewhere, LEDGERPLANE_CA: ca }), { code: 0, err: '' });
  t.match(await run(['role', 'list'], { TLS: 'files' }), { code: 1, err: /LEDGERPLANE_CA/u });
  t.match(await run(['role', 'list'], { TLS: 'off' }), { code: 1, err: /HTTPS only: use https/u });
  t.match(await run(['role', 'list'], { TLS: 'on' }), { code: 2, err: /TLS must be one of off, auto, files/u });
});

test('an authority that cannot be used is a mistake', async (t) => {
  const folder = t.testdir({ 'text.pem': 'a text', 'broken.pem': '-----BEGIN CERTIFICATE-----\nx\n' });
  for (const name of ['none.pem', 'text.pem', 'broken.pem']) {
    const variables = { TLS: 'auto', PORT: '9', LEDGERPLANE_CA: name };
    const { code, err } = await runCommand(['role', 'list'], { variables, folder });
    t.equal(code, 2, name);
    t.match(err, /^ledgerplane: LEDGERPLANE_CA: the file ".*" cannot be used: /u);
  }
});

test('HTTPS to a server in plain HTTP says what to change', async (t) => {
  const { run, port } = await given(t, 'off');
  const { code, err } = await run(['role', 'list', '--server', `https://127.0.0.1:${port}`]);
  t.equal(code, 1);
  t.match(err, /the server does not use TLS at this address: use an http:\/\//u);
});

test('a kubeconfig holds the authority and a fresh token that works', async (t) => {
  const { run, server, ca } = await given(t);
  const { code, out, err } = await run(['kubeconfig', '--expires', '2h', '--role', 'super-role']);
  t.equal(code, 0, err);
  const config = JSON.parse(out) as Kubeconfig;
  t.match(config, { apiVersion: 'v1', kind: 'Config' });
  const { cluster } = config.clusters[0];
  const text = readFileSync(ca, 'utf8');
  t.equal(Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString(), text);
  t.equal(cluster.server, server.url);
  const { token = '' } = config.users[0].user;
  const headers = { authorization: `Bearer ${token}` };
  t.equal((await askTls(`${server.url}/api/v1alpha1/users`, { ca: text, headers })).status, 200);
  t.match(err, /valid until .*: keep the file private/u);
  t.notMatch(err, token);
  const tokens = await askTls(`${server.url}/apis/uc.api.svc.run/v1alpha1/personalaccesstokens`, {
    ca: text,
    headers: { authorization: adminAuthorization },
  });
  t.match(JSON.parse(tokens.body), { items: [{ spec: { description: 'kubeconfig', roles: ['super-role'] } }] });
});

test('a kubeconfig over plain HTTP says what to set, before it asks for anything', async (t) => {
  const { run, port } = await given(t, 'off');
  for (const args of [['kubeconfig'], ['kubeconfig', '--exec'], ['credential'], ['kubeconfig', '--user', 'jane']]) {
    const { code, out, err } = await run(args);
    t.strictSame([code, out], [2, '']);
    t.match(err, `http://127.0.0.1:${port} is plain HTTP, over which kubectl sends no credentials: set TLS=auto`);
  }
});

test('mistakes in a kubeconfig’s options', async (t) => {
  const { run } = await given(t);
  t.match(await run(['kubeconfig', '--expires', 'soon']), { code: 2, err: /--expires must be a duration/u });
  t.match(await run(['kubeconfig', '--exec', '--expires', '1h']), { code: 2, err: /cannot be used with --exec/u });
  const token = { LEDGERPLANE_TOKEN: 'pat_x' };
  t.match(await run(['kubeconfig', '--exec'], token), { code: 2, err: /a token cannot create tokens: unset/u });
});

test('--exec names a command that caches its token in a private file until five minutes before its end', async (t) => {
  const { run, server, ca } = await given(t);
  const cache = t.testdir();
  const clock = new FakeClock(Date.now());
  const setting = { clock };
  const { code, out, err } = await run(['kubeconfig', '--exec', '--role', 'super-role'], { XDG_CACHE_HOME: cache });
  t.equal(code, 0, err);
  const { exec } = (JSON.parse(out) as Kubeconfig).users[0].user;
  if (exec === undefined) throw new Error('no exec');
  t.match(exec, {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/usr/bin/node',
    interactiveMode: 'IfAvailable',
  });
  const [program, ...args] = exec.args;
  t.equal(program, '/opt/main.js');
  const env = Object.fromEntries(exec.env.map(({ name, value }) => [name, value]));
  // As kubectl runs it: in another folder, with the variables that the configuration names.
  const fetch = async (more: Readonly<Record<string, string>> = {}): Promise<Credential> => {
    const variables = { ...password, XDG_CACHE_HOME: cache, LEDGERPLANE_TOKEN: 'pat_other', ...more, ...env };
    const done = await runCommand(args, { ...setting, variables });
    if (done.code !== 0) throw new Error(done.err);
    t.match(JSON.parse(done.out), { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' });
    return JSON.parse(done.out) as Credential;
  };
  const first = await fetch();
  t.equal(Date.parse(first.status.expirationTimestamp), clock.now() + execTokenMs);
  const text = readFileSync(ca, 'utf8');
  const headers = { authorization: `Bearer ${first.status.token}` };
  t.equal((await askTls(`${server.url}/api/v1alpha1/users`, { ca: text, headers })).status, 200);
  const folder = join(cache, 'ledgerplane');
  const [name = '', ...others] = readdirSync(folder);
  t.strictSame(others, []);
  const file = join(folder, name);
  t.strictSame([statSync(file).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700]);

  clock.advance(execTokenMs - execTokenMarginMs - 1);
  t.strictSame(await fetch({ LEDGERPLANE_PASSWORD: 'not needed' }), first, 'from its file');
  clock.advance(1);
  const second = await fetch();
  t.not(second.status.token, first.status.token);

  chmodSync(file, 0o644);
  const third = await fetch();
  t.not(third.status.token, second.status.token, 'a file that others can read does not count');
  t.equal(statSync(file).mode & 0o777, 0o600);
  writeFileSync(file, '{"status":{}}');
  t.not((await fetch()).status.token, third.status.token, 'nor does a damaged one');

  clock.advance(2 * execTokenMs);
  await fetch();
  const tokens = await askTls(`${server.url}/apis/uc.api.svc.run/v1alpha1/personalaccesstokens`, {
    ca: text,
    headers: { authorization: adminAuthorization },
  });
  t.equal((JSON.parse(tokens.body) as { items: unknown[] }).items.length, 1, 'expired ones are deleted');
});
