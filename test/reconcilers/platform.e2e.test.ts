import { setTimeout as sleep } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { Administration, as, core, prefixed } from '../support/server/administration.ts';
import { ask } from '../support/ask.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

/** What the platform's reconcilers do on a running server, as its users see it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are matched, not typed
type Answer = Readonly<Record<string, any>>;

const widgets = '/apis/example.com/v1alpha1/widgets';

async function opened(t: Test): Promise<{ readonly server: TestServer; readonly administration: Administration }> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return { server, administration: new Administration(server.url) };
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await holds()) return;
    await sleep(10);
  }
  throw new Error('it never came to hold');
}

async function widget(
  server: TestServer,
  name: string,
  owners: readonly Answer[] = [],
  more: Answer = {},
): Promise<Answer> {
  const body = {
    metadata: {
      name,
      ...more,
      ...(owners.length === 0
        ? {}
        : {
            ownerReferences: owners.map(({ metadata: { name: of, uid }, ...flags }) => ({
              apiVersion: 'example.com/v1alpha1',
              kind: 'Widget',
              name: of,
              uid,
              ...flags['reference'],
            })),
          }),
    },
    spec: { title: name, size: 1 },
  };
  const answer = await server.call(widgets, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(text);
  return JSON.parse(text) as Answer;
}

const isGone = (server: TestServer, name: string) => async (): Promise<boolean> =>
  (await server.call(`${widgets}/${name}`)).status === 404;
const get = async (server: TestServer, name: string): Promise<Answer> =>
  (await server.call(`${widgets}/${name}`)).json() as Promise<Answer>;

test('dependents are deleted with their last owner, orphaned, or block it, as the DELETE asks', async (t) => {
  const { server } = await opened(t);
  const [a, b] = [await widget(server, 'a'), await widget(server, 'b')];
  const child = await widget(server, 'child', [a]);
  await widget(server, 'grandchild', [child]);
  await widget(server, 'shared', [a, b]);
  await server.call(`${widgets}/a`, { method: 'DELETE' });
  for (const name of ['a', 'child', 'grandchild']) await eventually(isGone(server, name));
  await eventually(async () => (await get(server, 'shared'))['metadata'].ownerReferences.length === 1);
  t.equal(
    (await get(server, 'shared'))['metadata'].ownerReferences[0].uid,
    b['metadata'].uid,
    'only the reference to the deleted owner is removed',
  );

  await server.call(`${widgets}/b?propagationPolicy=Orphan`, { method: 'DELETE' });
  await eventually(isGone(server, 'b'));
  t.equal((await get(server, 'shared'))['metadata'].ownerReferences, undefined, 'an orphan stays, and names nobody');

  const top = await widget(server, 'top');
  await widget(server, 'held', [{ ...top, reference: { blockOwnerDeletion: true } }], {
    finalizers: ['example.com/hold'],
  });
  const marked = (await (
    await server.call(`${widgets}/top`, { method: 'DELETE', body: { propagationPolicy: 'Foreground' } })
  ).json()) as Answer;
  t.same(marked['metadata'].finalizers, ['foregroundDeletion']);
  await eventually(async () => (await get(server, 'held'))['metadata'].deletionTimestamp !== undefined);
  t.notOk(await isGone(server, 'top')(), 'an owner waits for what blocks it');
  await server.call(`${widgets}/held`, {
    method: 'PATCH',
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  for (const name of ['held', 'top']) await eventually(isGone(server, name));
});

test('a new user with the name of a deleted one inherits nothing', async (t) => {
  const { server, administration } = await opened(t);
  await administration.role('reader', {
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list'] }],
  });
  await administration.user('ann');
  await administration.bind('anns', 'reader', 'ann');
  await administration.bind('both', 'reader', 'ann', 'oidc:ann', 'ben');
  const made = await ask(server.url, '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
    method: 'POST',
    headers: { ...as('ann'), 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'anns-token' } }),
  });
  t.equal(made.status, 201);
  t.equal((await ask(server.url, widgets, { headers: as('ann') })).status, 200);
  await administration.remove('users', 'ann');
  await eventually(async () => (await server.call(core('users', 'ann'))).status === 404);
  t.equal(
    (await server.call(core('rolebindings', 'anns'))).status,
    404,
    'the name is free only once no binding names it',
  );
  const { subjects } = (await administration.object('rolebindings', 'both')) as {
    readonly subjects: readonly Answer[];
  };
  t.same(
    subjects.map(({ name }) => name as string),
    ['oidc:ann', 'ben'],
  );
  await administration.user('ann');
  t.equal((await ask(server.url, widgets, { headers: as('ann') })).status, 403);
  await eventually(async () => (await server.call(core('personalaccesstokens', 'anns-token'))).status === 404);
  // Bound before there is such a user: nobody's to take away.
  await administration.bind('early', 'reader', 'cid');
  await administration.user('cid');
  t.equal((await ask(server.url, widgets, { headers: as('cid') })).status, 200);
});

test('a role lists the roles it lacks, until they exist', async (t) => {
  const { server, administration } = await opened(t);
  await server.call(core('roles'), {
    method: 'POST',
    body: { metadata: { name: 'needy', annotations: prefixed({ dependencies: '["needed"]' }) }, rules: [] },
  });
  const complete = async (): Promise<Answer | undefined> => {
    const { status } = (await administration.object('roles', 'needy')) as {
      readonly status: { readonly conditions: readonly Answer[] };
    };
    return status.conditions.find(({ type }) => type === 'Complete');
  };
  await eventually(async () => (await complete())?.['status'] === 'False');
  t.match((await complete())?.['message'], /"needed"/u);
  t.equal(
    (
      await server.call(`${core('roles', 'needy')}/status`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { status: { conditions: [] } },
      })
    ).status,
    200,
  );
  t.equal((await complete())?.['status'], 'False', 'what anybody else writes of it is ignored');
  await administration.role('needed');
  await eventually(async () => (await complete())?.['status'] === 'True');
});
