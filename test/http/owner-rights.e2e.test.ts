import { setTimeout as sleep } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { streamName, type EventLog } from '../../src/log/log.ts';
import { openLog as openConfiguredLog, type OpenLog } from '../../src/server/open-log.ts';
import { Administration, as, core, type Rule } from '../support/server/administration.ts';
import { ask, type Answered } from '../support/ask.ts';
import { appendReferences } from '../support/old-references.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server/start-server.ts';

/** Rights to set owner references, on a running server: the same as the rights to delete the owner. */
const widgets = '/apis/example.com/v1alpha1/widgets';
const nobody = {
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  name: 'nobody',
  uid: '00000000-0000-4000-8000-000000000000',
};
const widgetRule = (verbs: string, more: Rule = {}): Rule => ({
  apiGroups: ['example.com'],
  resources: ['widgets'],
  verbs: verbs.split(','),
  ...more,
});

type Sending = { readonly method: string; readonly type?: string; readonly body: unknown };
type Send = (path: string, sending: Sending) => Promise<Answered>;

class Stage {
  readonly server: TestServer;
  readonly administration: Administration;

  private constructor(server: TestServer) {
    this.server = server;
    this.administration = new Administration(server.url);
  }

  static async open(test: Test, options: TestServerOptions = {}): Promise<Stage> {
    const server = await startTestServer(options);
    test.teardown(async () => server.remove());
    return new Stage(server);
  }

  /** A user with these rules. */
  async user(name: string, ...rules: readonly Rule[]): Promise<Send> {
    await this.administration.user(name);
    await this.administration.role(name, { rules });
    await this.administration.bind(name, name, name);
    return async (path, { method, type = 'application/merge-patch+json', body }) =>
      ask(this.server.url, path, {
        method,
        headers: { ...as(name), 'content-type': method === 'PATCH' ? type : 'application/json' },
        body: JSON.stringify(body),
      });
  }

  async widget(name: string, metadata: object = {}): Promise<{ readonly metadata: { readonly uid: string } }> {
    return JSON.parse(
      (
        await this.administration.call('POST', widgets, {
          metadata: { name, ...metadata },
          spec: { title: name, size: 1 },
        })
      ).text,
    ) as { readonly metadata: { readonly uid: string } };
  }

  /** A widget whose owner is deleted is collected; then everything queued before it was processed, too. */
  async settle(): Promise<void> {
    await this.widget('settler', { ownerReferences: [nobody] });
    while ((await this.server.call(`${widgets}/settler`)).status !== 404) await sleep(5);
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are sent unchanged
const ways: readonly (readonly [string, (object: Record<string, any>) => Sending])[] = [
  ['a merge patch', () => ({ method: 'PATCH', body: { metadata: { ownerReferences: [nobody] } } })],
  [
    'a JSON Patch',
    () => ({
      method: 'PATCH',
      type: 'application/json-patch+json',
      body: [{ op: 'add', path: '/metadata/ownerReferences', value: [nobody] }],
    }),
  ],
  [
    'a PUT',
    (object) => ({
      method: 'PUT',
      body: { ...object, metadata: { ...object['metadata'], ownerReferences: [nobody] } },
    }),
  ],
];

test('a user without the right to delete an object cannot name it as an owner', async (test) => {
  const stage = await Stage.open(test);
  const send = await stage.user(
    'joe',
    widgetRule('get,update,patch,create'),
    widgetRule('delete', { resourceNames: ['mine'] }),
  );
  await stage.widget('chair');
  for (const [what, way] of ways) {
    for (const query of ['', '?dryRun=All']) {
      const refused = await send(
        `${widgets}/chair${query}`,
        way((await (await stage.server.call(`${widgets}/chair`)).json()) as object),
      );
      test.equal(refused.status, 403, `${what}${query}`);
      test.match(JSON.parse(refused.text), {
        message: new RegExp(
          String.raw`^widgets\.example\.com "chair" is forbidden: User "joe" cannot delete resource "widgets" ` +
            String.raw`in API group "example\.com"`,
          'u',
        ),
      });
    }
  }
  await stage.settle();
  test.equal((await stage.server.call(`${widgets}/chair`)).status, 200);

  test.equal(
    (
      await send(widgets, {
        method: 'POST',
        body: { metadata: { name: 'short', ownerReferences: [nobody] }, spec: { title: 'x', size: 1 } },
      })
    ).status,
    201,
    'a create needs no right to delete',
  );
  await stage.widget('mine');
  test.equal((await send(`${widgets}/mine`, ways[0]![1]({}))).status, 200, 'the right to delete this one is enough');
});

test("blockOwnerDeletion needs the right to the owner's finalizers, also on create", async (test) => {
  const stage = await Stage.open(test);
  const finalizers: Rule = {
    apiGroups: ['example.com'],
    resources: ['widgets/finalizers'],
    verbs: ['update'],
    resourceNames: ['free'],
  };
  const send = await stage.user('joe', widgetRule('*'), finalizers);
  const [held, free] = [await stage.widget('held'), await stage.widget('free')];
  const owned = (name: string, owner: string, { metadata: { uid } }: typeof held): Sending => ({
    method: 'POST',
    body: {
      metadata: { name, ownerReferences: [{ ...nobody, name: owner, uid, blockOwnerDeletion: true }] },
      spec: { title: name, size: 1 },
    },
  });
  const refused = await send(widgets, owned('a', 'held', held));
  test.equal(refused.status, 403);
  test.match(JSON.parse(refused.text), {
    message: /User "joe" cannot update resource "widgets\/finalizers" in API group "example\.com"/u,
  });
  test.equal((await send(widgets, owned('b', 'free', free))).status, 201);
  // The right is asked for by name: another object's uid under that name holds nobody back.
  const c = owned('c', 'free', held).body as { readonly metadata: object };
  await send(widgets, {
    method: 'POST',
    body: { ...c, metadata: { ...c.metadata, finalizers: ['example.com/hold'] } },
  });
  for (const policy of ['Foreground', 'Orphan']) {
    const name = policy === 'Foreground' ? 'held' : 'other';
    if (name === 'other') {
      const {
        metadata: { uid },
      } = await stage.widget('other');
      await send(widgets, {
        method: 'POST',
        body: {
          metadata: { name: 'd', finalizers: ['example.com/hold'], ownerReferences: [{ ...nobody, uid }] },
          spec: { title: 'd', size: 1 },
        },
      });
    }
    await stage.server.call(`${widgets}/${name}?propagationPolicy=${policy}`, { method: 'DELETE' });
    await stage.settle();
    test.equal((await stage.server.call(`${widgets}/${name}`)).status, 404, `${policy}: it goes`);
  }
});

test('owner references of an old log delete nothing and block nothing', async (test) => {
  const logs: EventLog[] = [];
  const openLog: OpenLog = async (config, hooks) => {
    const opened = await openConfiguredLog(config, hooks);
    logs.push(opened.log);
    return opened;
  };
  const stage = await Stage.open(test, { openLog });
  await stage.administration.user('victim');
  const {
    metadata: { uid },
  } = await stage.widget('owner');
  const references = [
    { ...nobody, blockOwnerDeletion: true },
    { ...nobody, name: 'owner', uid, blockOwnerDeletion: true },
  ];
  for (const name of ['admin', 'victim'])
    await appendReferences(logs[0]!, streamName(`object:users/${name}`), references);
  await stage.server.call(`${widgets}/owner?propagationPolicy=Foreground`, { method: 'DELETE' });
  await stage.settle();
  test.equal((await stage.server.call(`${widgets}/owner`)).status, 404, 'the owner does not wait for them');
  for (const name of ['admin', 'victim'])
    test.match(await stage.administration.object('users', name), {
      metadata: { ownerReferences: references, deletionTimestamp: undefined },
    });
});

test('objects of access control have no owners, for any author', async (test) => {
  const stage = await Stage.open(test);
  await stage.administration.user('victim');
  await stage.administration.role('watched');
  await stage.administration.bind('bound', 'watched', 'victim');
  await stage.administration.call(
    'POST',
    '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
    { metadata: { name: 'token' } },
    { headers: as('victim') },
  );
  await ask(stage.server.url, '/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'victim', password: 'the password of victim' }),
  });
  const { items } = (await (await stage.server.call(core('sessions'))).json()) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  const objects = [
    ['users', 'victim'],
    ['users', 'admin'],
    ['roles', 'watched'],
    ['rolebindings', 'bound'],
    ['personalaccesstokens', 'token'],
    ['sessions', items[0]?.metadata.name ?? ''],
  ] as const;
  const send = await stage.user('boss', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] });
  for (const [plural, name] of objects) {
    const object = await stage.administration.object(plural, name);
    for (const [what, way] of ways) {
      for (const by of [
        send,
        async (path: string, { method, type = 'application/merge-patch+json', body }: Sending) => {
          const answer = await stage.server.call(path, {
            method,
            body,
            headers: method === 'PATCH' ? { 'content-type': type } : {},
          });
          return { status: answer.status, text: await answer.text() };
        },
      ]) {
        const refused = await by(core(plural, name), way(object));
        test.equal(refused.status, 422, `${plural} ${name} by ${what}: ${refused.text}`);
        test.match(JSON.parse(refused.text), { errors: [{ pointer: '/metadata/ownerReferences' }] });
      }
    }
  }
  const created = await stage.server.call(core('users'), {
    method: 'POST',
    body: { metadata: { name: 'new', ownerReferences: [nobody] }, spec: {} },
  });
  test.equal(created.status, 422);
});
