/** The requests of kopf 1.44.6: kopf/_cogs/clients/*.py, kopf/_core/engines/peering.py. */
import { test, type Test } from 'tap';

import { gadget, gadgetsPath, type KubernetesObject } from '../../support/kubernetes/gadgets.ts';
import { ClientRequests, isNotFound, type ObjectList, type Received } from './client-requests.ts';

/** aiohttp's own. */
const any = { accept: '*/*', 'accept-encoding': 'gzip, deflate' };
const merge = { ...any, 'content-type': 'application/merge-patch+json' };
const jsonPatch = { ...any, 'content-type': 'application/json-patch+json' };
const path = `${gadgetsPath}/a`;
const identity = 'user@host/20260101000000/abc';

type Resource = { readonly name: string; readonly kind: string; readonly verbs: readonly string[] };

async function given(t: Test) {
  const client = await ClientRequests.given(t);
  const headers = { ...any, 'content-type': 'application/json' };
  const created = await client.send<KubernetesObject>('POST', gadgetsPath, { headers, body: gadget('a') });
  t.equal(created.status, 201);
  return { client, created: created.body };
}

/** A patch of the body as kopf 1.44 sends it: the position first, so that a newer state fails it. */
async function patchIf(
  client: ClientRequests,
  { metadata: { resourceVersion } }: KubernetesObject,
  operations: readonly object[],
): Promise<Received<KubernetesObject>> {
  const condition = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
  return client.send('PATCH', path, { headers: jsonPatch, body: [condition, ...operations] });
}

test('the scan at the start finds every type with its subresources', async (t) => {
  const { client } = await given(t);
  t.match(await client.send('GET', '/version', { headers: any }), { status: 200 });
  const core = await client.send<{ readonly versions: readonly string[] }>('GET', '/api', { headers: any });
  t.ok(Array.isArray(core.body.versions));
  const { body } = await client.send<{
    readonly groups: readonly {
      readonly name: string;
      readonly versions: readonly { readonly version: string }[];
      readonly preferredVersion: { readonly version: string };
    }[];
  }>('GET', '/apis', { headers: any });
  const found: string[] = [];
  const lists = [
    ...core.body.versions.map((version) => `/api/${version}`),
    ...body.groups.flatMap(({ name, versions }) => versions.map(({ version }) => `/apis/${name}/${version}`)),
  ];
  for (const list of lists) {
    const { resources } = (
      await client.send<{ readonly resources: readonly (Resource & Record<string, unknown>)[] }>('GET', list, {
        headers: any,
      })
    ).body;
    for (const resource of resources) {
      for (const member of ['name', 'kind', 'singularName', 'namespaced', 'verbs'])
        t.ok(member in resource, `${list} ${resource.name} ${member}`);
      found.push(`${list} ${resource.name}`);
    }
  }
  const gadgets = found.filter((entry) => entry.includes('gadgets'));
  const gadget = '/apis/tools.example/v1 gadgets';
  t.strictSame(gadgets, [gadget, `${gadget}/history`, `${gadget}/restore`, `${gadget}/status`]);
  t.ok(found.includes('/api/v1alpha1 users'));
  t.notOk(
    found.some((entry) => /^\/api\/.* events$|^\/apis\/events\.k8s\.io\//u.test(entry)),
    'no Kubernetes events, so that none is posted',
  );
});

test('the list and the watch from its position work, and the end is clean', async (t) => {
  const { client } = await given(t);
  const { body } = await client.send<ObjectList>('GET', gadgetsPath, { headers: any });
  t.match(body, { kind: 'GadgetList', items: [{ metadata: { name: 'a' } }] });
  const { resourceVersion } = body.metadata;
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
  const stream = await client.watch(`${gadgetsPath}?${query}&timeoutSeconds=1`, any);
  await client.send('PATCH', path, { headers: merge, body: { spec: { size: 1 } } });
  t.match(await stream.next(), { type: 'MODIFIED', object: { spec: { size: 1 } } });
  t.match(await stream.next(), { type: 'BOOKMARK', object: { metadata: { resourceVersion: /^\d+$/u } } });
  t.equal(await stream.next(), undefined);
  const expired = await client.watch(
    `${gadgetsPath}?watch=true&allowWatchBookmarks=true&resourceVersion=999999999`,
    any,
  );
  t.match(await expired.next(), { type: 'ERROR', object: { code: 410 } });
});

test('its annotations are merged and removed, and change no generation', async (t) => {
  const { client, created } = await given(t);
  const annotate = async (value: string | null) =>
    client.send<KubernetesObject>('PATCH', path, {
      headers: merge,
      body: {
        metadata: {
          annotations: {
            'kopf.zalando.org/last-handled-configuration': '{"spec":{}}\n',
            'kopf.zalando.org/create_fn': value,
          },
        },
      },
    });
  const progress = '{"started":"2026-01-01T00:00:00.000000+00:00","retries":0,"success":false}';
  const annotated = await annotate(progress);
  t.match(annotated, {
    status: 200,
    body: { metadata: { generation: 1, annotations: { 'kopf.zalando.org/create_fn': progress } } },
  });
  t.strictSame((await annotate(null)).body.metadata.annotations, {
    'kopf.zalando.org/last-handled-configuration': '{"spec":{}}\n',
  });
  t.equal(created.metadata.annotations, undefined);
});

test('its finalizer is added and removed where the position holds, else 422 postpones it', async (t) => {
  const { client, created } = await given(t);
  const add = [{ op: 'add', path: '/metadata/finalizers', value: ['kopf.zalando.org/KopfFinalizerMarker'] }];
  const held = await patchIf(client, created, add);
  t.match(held, { status: 200, body: { metadata: { finalizers: ['kopf.zalando.org/KopfFinalizerMarker'] } } });
  t.match(await patchIf(client, created, add), { status: 422, body: { kind: 'Status', reason: 'Invalid' } });
  const deleted = await client.send<KubernetesObject>('DELETE', path, { headers: any });
  t.match(deleted, { status: 200, body: { metadata: { deletionTimestamp: /./u } } });
  t.equal((await patchIf(client, deleted.body, [{ op: 'remove', path: '/metadata/finalizers' }])).status, 200);
  t.ok(isNotFound(await client.send('PATCH', path, { headers: merge, body: { spec: {} } })), 'the patch is skipped');
});

test('the status is merged by its path, as is a peering of operators', async (t) => {
  const { client } = await given(t);
  const peer = { priority: 0, lifetime: 60, lastseen: '2026-01-01T00:00:00.000000+00:00' };
  const touch = async (value: object | null) =>
    client.send<KubernetesObject>('PATCH', `${path}/status`, {
      headers: merge,
      body: { status: { [identity]: value } },
    });
  t.match(await touch(peer), { status: 200, body: { status: { [identity]: peer } } });
  const released = await touch(null);
  t.equal(released.status, 200);
  t.notOk(identity in (released.body.status ?? {}));
  const none = `${gadgetsPath}/default/status`;
  t.ok(
    isNotFound(await client.send('PATCH', none, { headers: merge, body: { status: {} } })),
    'no peering, no failure',
  );
});

test('a posted event is refused in the form that it logs', async (t) => {
  const { client } = await given(t);
  const headers = { ...any, 'content-type': 'application/json' };
  const body = { metadata: { namespace: 'default', generateName: 'kopf-event-' }, type: 'Normal', reason: 'Test' };
  t.ok(isNotFound(await client.send('POST', '/api/v1/namespaces/default/events', { headers, body })));
});
