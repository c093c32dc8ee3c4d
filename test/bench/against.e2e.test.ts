import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { httpsFetch } from '../../src/client/node/https-fetch.ts';
import { adminAuthorization, startTestServer } from '../support/server/start-server.ts';
import { figuresOf, runBench } from './run-bench.ts';

const path = '/apis/example.com/v1alpha1/widgets';
const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
const figures = [
  'LIST 500 objects /s',
  'GET one object, 64 connections /s',
  'PUT with a resourceVersion, 64 /s',
  'POST create, 64 connections /s',
  'watch: 16 writers deliveries/s',
  'watch: write sent to last, 10/s ms p99',
];

/** A second server, as the other server of the bench. */
async function given(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const server = await startTestServer({ environment });
  t.teardown(async () => server.remove());
  const caFile = join(server.dataDir, 'tls', 'ca.crt');
  const ask = server.url.startsWith('https:') ? httpsFetch({ ca: readFileSync(caFile, 'utf8') }) : fetch;
  const call = async (at: string, method: string, body?: object): Promise<unknown> => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await ask(server.url + at, init)).json();
  };
  const made = (await call('/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', 'POST', {
    metadata: { generateName: 'token-' },
  })) as { readonly status: { readonly token: string } };
  const args = ['--against', server.url, '--token', made.status.token, '--quick', '--json'];
  return { server, caFile, call, args };
}

test('another server gets the same load over TLS, its results are checked, and its objects removed', async (t) => {
  const { args, caFile, call } = await given(t, { TLS: 'auto' });
  const run = await runBench([...args, '--ca', caFile, '--resource', path]);
  t.equal(run.code, 0, run.err);
  const found = figuresOf(run);
  t.strictSame(
    found.map(({ measure, unit }) => `${measure} ${unit}`),
    figures,
  );
  for (const { measure, value, baseline, ratio } of found)
    t.ok(value > 0 && (baseline ?? 0) > 0 && (ratio ?? 0) > 0, measure);
  t.match(await call(path, 'GET'), { items: { length: 0 } });
});

test('the load over HTTP needs no authority', async (t) => {
  const { args } = await given(t);
  const run = await runBench([...args, '--resource', path]);
  t.equal(run.code, 0, run.err);
  t.equal(figuresOf(run).length, figures.length);
});

test('a server without the type gets the definition to apply', async (t) => {
  const { args } = await given(t);
  const absent = '/apis/bench.example/v1/things';
  const run = await runBench([...args, '--resource', absent]);
  t.equal(run.code, 1);
  t.match(run.err, /does not serve things\.bench\.example: apply the definition/u);
  const printed = await runBench(['--definition', '--resource', absent]);
  t.equal(printed.code, 0, printed.err);
  t.match(printed.out, /^apiVersion: apiextensions\.k8s\.io\/v1\nkind: CustomResourceDefinition\n/u);
  t.equal(run.out, printed.out);
});

test('a collection with objects, a wrong token and a wrong authority are refused', async (t) => {
  const { args, call, caFile, server } = await given(t, { TLS: 'auto' });
  const run = async (more: readonly string[]): Promise<string> => {
    const { code, err } = await runBench([...args, '--resource', path, ...more]);
    t.equal(code, 1);
    return err;
  };
  const wrong = join(server.dataDir, 'wrong.crt');
  writeFileSync(wrong, '');
  t.match(await run(['--ca', caFile, '--token', 'unknown']), /returned the status 401/u);
  t.match(await run(['--ca', wrong]), /FAILED against: .*certificate/u);
  t.match(await run(['--ca', join(server.dataDir, 'absent.crt')]), /ENOENT/u);
  await call(path, 'POST', { metadata: { name: 'mine' }, spec: { title: 'Mine' } });
  t.match(await run(['--ca', caFile]), /has objects: the bench needs an empty one/u);
  t.match(await call(`${path}/mine`, 'GET'), { metadata: { name: 'mine' } });
});
