import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { test, type Test } from 'tap';
import { stringify } from 'yaml';

import { widget } from '../../plugins/example/widget.ts';
import { connect, connectKubeconfig, ConnectionError } from '../../src/client/node/node.ts';
import { runCommand } from '../support/server/command-run.ts';
import { selfSigned } from '../support/server/self-signed.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { rejection, until } from './scripted-server.ts';

async function overTls(
  t: Test,
): Promise<{ readonly server: TestServer; readonly ca: string; readonly config: string }> {
  const server = await startTestServer({ environment: { TLS: 'auto' } });
  t.teardown(async () => server.remove());
  const { port } = new URL(server.url);
  const variables = { TLS: 'auto', DATA_DIR: server.dataDir, PORT: port, LEDGERPLANE_PASSWORD: testPassword };
  const { out, code } = await runCommand(['kubeconfig'], { variables });
  t.equal(code, 0);
  return { server, ca: await readFile(join(server.dataDir, 'tls', 'ca.crt'), 'utf8'), config: out };
}

type Written = {
  readonly users: [{ user: Record<string, unknown> }];
  readonly clusters: [{ cluster: Record<string, unknown> }];
};

test('a kubeconfig as the command writes it connects, as JSON and as YAML', async (t) => {
  const { config, ca } = await overTls(t);
  const folder = t.testdir({ json: config, yaml: stringify(JSON.parse(config)), 'ca.pem': ca });
  for (const name of ['json', 'yaml']) {
    const client = connectKubeconfig({ path: join(folder, name) });
    await client.create(widget, { metadata: { name }, spec: { title: name } });
    t.equal((await client.get(widget, name))?.spec.title, name);
    const informer = client.informer(widget);
    await informer.synced;
    await client.patch(widget, name, { spec: { size: 7 } });
    await until(() => informer.get(name)?.spec.size === 7);
    informer.stop();
    t.equal(await client.get(widget, 'nothing'), undefined);
    t.match(await rejection(client.create(widget, { spec: { title: '' } })), { name: 'ClientError', status: 422 });
  }
  const whole = JSON.parse(config) as Written;
  const { 'certificate-authority-data': _data, ...cluster } = whole.clusters[0].cluster;
  whole.clusters[0].cluster = { ...cluster, 'certificate-authority': 'ca.pem' };
  const { token } = whole.users[0].user as { readonly token: string };
  whole.users[0].user = { tokenFile: 'token' };
  await writeFile(join(folder, 'token'), `${token}\n`);
  await writeFile(join(folder, 'files'), JSON.stringify(whole));
  t.equal((await connectKubeconfig({ path: join(folder, 'files') }).list(widget)).total, 2, 'files beside it');
});

test('a command fetches the token once, and again before it expires', async (t) => {
  const { config } = await overTls(t);
  const whole = JSON.parse(config) as Written;
  const { token } = whole.users[0].user as { readonly token: string };
  const script = [
    '#!/usr/bin/env node',
    "require('fs').appendFileSync('runs', process.env.EXTRA + process.argv[2] + '\\n');",
    `const status = { token: ${JSON.stringify(token)}, expirationTimestamp: '2030-01-01T00:00:00Z' };`,
    'const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);',
    "console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));",
  ].join('\n');
  const exec = {
    command: './fetch.cjs',
    args: ['one'],
    env: [{ name: 'EXTRA', value: 'x' }],
    apiVersion: 'client.authentication.k8s.io/v1',
  };
  whole.users[0].user = { exec };
  const folder = t.testdir({ config: JSON.stringify(whole), 'fetch.cjs': script });
  await chmod(join(folder, 'fetch.cjs'), 0o755);
  let now = Date.UTC(2029, 0, 1);
  const clock = { now: () => now, monotonic: () => 0, after: () => ({ cancel: () => undefined }) };
  const client = connectKubeconfig({ path: join(folder, 'config'), clock });
  await Promise.all([client.list(widget), client.list(widget), client.list(widget)]);
  await client.list(widget);
  t.equal(await readFile(join(folder, 'runs'), 'utf8'), 'xone\n');
  now = Date.UTC(2029, 11, 31, 23, 59, 30);
  await client.list(widget);
  t.equal(await readFile(join(folder, 'runs'), 'utf8'), 'xone\nxone\n');
  await writeFile(
    join(folder, 'fetch.cjs'),
    '#!/usr/bin/env node\nconsole.log("hush"); console.error("no network"); process.exit(3);\n',
  );
  const failing = connectKubeconfig({ path: join(folder, 'config'), clock });
  const failure = await rejection(failing.list(widget));
  t.match(String(failure), /fetch\.cjs, which fetches the credentials, failed: no network$/u);
  await writeFile(join(folder, 'fetch.cjs'), '#!/usr/bin/env node\nconsole.log("hush")\n');
  t.match(String(await rejection(failing.list(widget))), /printed no ExecCredential with a token$/u, 'it is run again');
});

test('a token of a command that prints no valid time is fetched for each request', async (t) => {
  const { config } = await overTls(t);
  const whole = JSON.parse(config) as Written;
  const { token } = whole.users[0].user as { readonly token: string };
  whole.users[0].user = { exec: { command: './fetch.cjs', apiVersion: 'client.authentication.k8s.io/v1' } };
  const script = [
    '#!/usr/bin/env node',
    "require('fs').appendFileSync('runs', 'x');",
    `console.log(JSON.stringify({ status: { token: ${JSON.stringify(token)}, expirationTimestamp: 'soon' } }));`,
  ].join('\n');
  const folder = t.testdir({ config: JSON.stringify(whole), 'fetch.cjs': script });
  await chmod(join(folder, 'fetch.cjs'), 0o755);
  const client = connectKubeconfig({ path: join(folder, 'config') });
  await client.list(widget);
  await client.list(widget);
  t.equal(await readFile(join(folder, 'runs'), 'utf8'), 'xx');
});

test('a kubeconfig that would connect as somebody else is refused, without its secrets', async (t) => {
  const config = (cluster: object, user: object): string =>
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://localhost:1', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [
        { name: 'x', context: { cluster: 'c', user: 'u' } },
        { name: 'y', context: { cluster: 'd', user: 'u' } },
      ],
      'current-context': 'x',
    });
  const folder = t.testdir({
    good: config({}, { token: 'hush' }),
    insecure: config({ 'insecure-skip-tls-verify': true }, { token: 'hush' }),
    password: config({}, { username: 'a', password: 'hush' }),
    certificate: config({}, { 'client-certificate-data': 'hush' }),
    exec: config({}, { exec: { command: 'x', args: 'hush' } }),
    server: config({ server: '' }, { token: 'hush' }),
    text: 'token: "hush\n  - [',
    list: '[]',
  });
  const read = (name: string, context?: string): unknown => {
    try {
      return connectKubeconfig({ path: join(folder, name), context });
    } catch (error) {
      return error;
    }
  };
  t.match(read('good'), { get: Function });
  for (const [name, reason] of [
    ['insecure', /insecure-skip-tls-verify of a cluster is not supported/u],
    ['password', /username of a user is not supported: use token, tokenFile or exec/u],
    ['certificate', /client-certificate-data of a user/u],
    ['exec', /exec of the user has no command/u],
    ['server', /the cluster has no server/u],
    ['text', /cannot be read as JSON or YAML/u],
    ['list', /is not a kubeconfig/u],
    ['none', /cannot be read as JSON or YAML \(ENOENT\)/u],
  ] as const) {
    t.match(String(read(name)), reason, name);
    t.notMatch(String(read(name)), /hush/u, name);
  }
  t.match(String(read('good', 'y')), /clusters has no cluster "d"/u);
  t.match(String(read('good', 'z')), /contexts has no context "z"/u);
});

test('only the given authority vouches, and redirects are refused', async (t) => {
  const { key, certificate } = selfSigned();
  const other = selfSigned();
  const server = createServer({ key, cert: certificate }, (request, response) => {
    if (request.url === '/apis/g/v/moved/a') response.writeHead(302, { location: 'https://localhost:1/' }).end();
    else response.end('{"metadata":{"name":"a"}}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const type = { group: 'g', version: 'v', plural: 'things' };
  t.match(await connect({ url, ca: certificate }).get(type, 'a'), { metadata: { name: 'a' } });
  const wrong = await rejection(connect({ url, ca: other.certificate }).get(type, 'a'));
  t.ok(wrong instanceof ConnectionError);
  t.match(String(wrong), /no response from https:\/\/127\.0\.0\.1:\d+: .*\([A-Z_]+\)$/u);
  t.ok((await rejection(connect({ url }).get(type, 'a'))) instanceof ConnectionError);
  const misnamed = connect({ url, ca: certificate, serverName: 'elsewhere.example' });
  t.match(String(await rejection(misnamed.get(type, 'a'))), /ERR_TLS_CERT_ALTNAME_INVALID/u);
  const moved = await rejection(connect({ url, ca: certificate }).get({ ...type, plural: 'moved' }, 'a'));
  t.match(String(moved), /redirects \(302\)/u);
  t.throws(() => connect({ url: 'http://localhost', ca: certificate }), TypeError);
  t.throws(() => connect({ url, ca: certificate, fetch }), TypeError);
});
