/** The types of the platform, as a user of kubectl meets them. */
import { test } from 'tap';

import { givenKubectl, noKubectl, type Kubectl } from '../support/server/kubectl.ts';
import { runSteps } from '../support/server/kubectl-gizmos.ts';
import { askTls } from '../support/server/ask-tls.ts';
import { testPassword } from '../support/server/start-server.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const settings = { skip: noKubectl, timeout: 120_000 };
const applied = `{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}`;

function user(name: string, spec: object): object {
  return { apiVersion: 'v1alpha1', kind: 'User', metadata: { name }, spec };
}

test('a user is applied like any other object', settings, async (t) => {
  const kubectl = await givenKubectl(t);
  await kubectl.file('jane.json', user('jane', { displayName: 'Jane' }));
  await runSteps(t, kubectl, [
    { run: 'apply -f jane.json', out: 'user/jane created' },
    { run: 'apply -f jane.json', out: 'user/jane unchanged' },
    { run: 'diff -f jane.json' },
    { run: `get user jane -o jsonpath=${applied}`, out: /"displayName":"Jane"/u },
  ]);
});

test('a password that is applied is in no annotation, and nothing warns', settings, async (t) => {
  const kubectl = await givenKubectl(t);
  const spec = { displayName: 'Jane', password: 'correct horse 7' };
  await kubectl.file('jane.json', user('jane', spec));
  await runSteps(t, kubectl, [
    { run: 'apply -f jane.json', out: 'user/jane created' },
    { run: 'apply -f jane.json', out: 'user/jane configured' },
    { run: `get user jane -o jsonpath=${applied}`, out: /"displayName":"Jane"/u },
  ]);
  const { out } = await kubectl.run('get user jane -o yaml');
  t.notMatch(out, 'correct horse');
  await kubectl.file('jane.json', user('jane', { password: 'correct horse 7' }));
  await runSteps(t, kubectl, [
    { run: 'apply -f jane.json', out: 'user/jane configured' },
    { run: 'get user jane -o jsonpath={.spec}', out: '{}' },
  ]);
});

/** A line of a table: the cells of the times in it. */
const timesIn = (line: string): readonly string[] => line.match(/\d{4}-\d\d-\d\dT\S+/gu) ?? [];

async function logIn({ server }: Kubectl): Promise<number> {
  const ca = await readFile(join(server.dataDir, 'tls', 'ca.crt'), 'utf8');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username: 'admin', password: testPassword });
  return (await askTls(`${server.url}/login`, { method: 'POST', ca, headers }, body)).status;
}

test('tables show when tokens and sessions expire', settings, async (t) => {
  const kubectl = await givenKubectl(t);
  t.equal(await logIn(kubectl), 200);
  for (const [resource, pointer] of [
    ['personalaccesstokens', '{.items[0].spec.expiresAt}'],
    ['sessions', '{.items[0].status.expiresAt}'],
  ] as const) {
    const [table, expiry] = [
      await kubectl.run(`get ${resource}`),
      await kubectl.run(`get ${resource} -o jsonpath=${pointer}`),
    ];
    t.match(table.out, /EXPIRES/u);
    t.notMatch(table.out, '<invalid>');
    t.strictSame(timesIn(table.out), [expiry.out], resource);
  }
});
