/**
 * The requests of controller-runtime's client, finalizer helpers and leader election (pkg/client, pkg/controller and
 * pkg/leaderelection at commit 86a0d40e047c of August 2026, with client-go v0.37).
 */
import { test, type Test } from 'tap';

import { gadget, gadgetsPath, type KubernetesObject, type Metadata } from '../../support/kubernetes/gadgets.ts';
import { ClientRequests, isNotFound, type ObjectList } from './client-requests.ts';

const json = { accept: 'application/json, */*', 'content-type': 'application/json' };
const protobuf = {
  accept: 'application/vnd.kubernetes.protobuf,application/json',
  'content-type': 'application/vnd.kubernetes.protobuf',
};
const merge = { ...json, 'content-type': 'application/merge-patch+json' };
const path = `${gadgetsPath}/a`;

/** As a Go struct is written that embeds ObjectMeta: without members it does not know, with `status` always. */
function goStruct({ metadata: { version: _version, ...metadata }, ...object }: KubernetesObject): KubernetesObject {
  const creationTimestamp = String(metadata.creationTimestamp ?? '').replace(/\.\d+Z$/u, 'Z');
  return { status: {}, ...object, metadata: { ...metadata, creationTimestamp } };
}

/** As older releases write one that is new. */
function newStruct(name: string, metadata: Metadata = {}): KubernetesObject {
  return { ...gadget(name, {}, { creationTimestamp: null, ...metadata }), status: {} };
}

async function given(t: Test) {
  const client = await ClientRequests.given(t);
  const created = await client.send<KubernetesObject>('POST', gadgetsPath, { headers: json, body: newStruct('a') });
  t.equal(created.status, 201);
  return { client, created: created.body };
}

test('Create, Get and Update work with what a Go struct keeps of an object', async (t) => {
  const { client, created } = await given(t);
  t.match(created, { metadata: { name: 'a', uid: /./u, resourceVersion: /^\d+$/u, generation: 1 } });
  const got = await client.send<KubernetesObject>('GET', path, { headers: { accept: json.accept } });
  const updated = await client.send<KubernetesObject>('PUT', path, {
    headers: json,
    body: { ...goStruct(got.body), spec: { size: 1 } },
  });
  t.match(updated, { status: 200, body: { spec: { size: 1 }, metadata: { generation: 2 } } });
  t.equal(updated.body.metadata.creationTimestamp, created.metadata.creationTimestamp, 'whole seconds change nothing');
  const stale = await client.send('PUT', path, { headers: json, body: { ...goStruct(got.body), spec: { size: 2 } } });
  t.match(stale, { status: 409, body: { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 } });
  const again = await client.send('POST', gadgetsPath, { headers: json, body: newStruct('a') });
  t.match(again, { status: 409, body: { reason: 'AlreadyExists' } });
});

test('Status().Update writes the status only, and the main path none', async (t) => {
  const { client, created } = await given(t);
  const body = { ...goStruct(created), spec: { size: 9 }, status: { phase: 'Ready', observedGeneration: 1 } };
  const updated = await client.send<KubernetesObject>('PUT', `${path}/status`, { headers: json, body });
  t.match(updated, { status: 200, body: { status: { phase: 'Ready' }, metadata: { generation: 1 } } });
  t.strictSame(updated.body.spec, {});
  const ignored = await client.send<KubernetesObject>('PUT', path, {
    headers: json,
    body: { ...goStruct(updated.body), status: {} },
  });
  t.match(ignored, { status: 200, body: { status: { phase: 'Ready' } } });
  t.equal(ignored.body.metadata.resourceVersion, updated.body.metadata.resourceVersion, 'nothing has changed');
});

test('Patch with MergeFrom works, with its optimistic lock too', async (t) => {
  const { client, created } = await given(t);
  const patch = async (metadata: Metadata) =>
    client.send<KubernetesObject>('PATCH', path, { headers: merge, body: { metadata } });
  t.match(await patch({ labels: { a: 'b' } }), { status: 200, body: { metadata: { labels: { a: 'b' } } } });
  const { resourceVersion = '' } = created.metadata;
  t.match(await patch({ labels: { a: 'c' }, resourceVersion }), { status: 409, body: { reason: 'Conflict' } });
  const status = await client.send<KubernetesObject>('PATCH', `${path}/status`, {
    headers: merge,
    body: { status: { phase: 'Ready' } },
  });
  t.match(status, { status: 200, body: { status: { phase: 'Ready' } } });
});

test('a finalizer is added by an Update, holds the deletion, and its removal by an Update ends it', async (t) => {
  const { client, created } = await given(t);
  const put = async (object: KubernetesObject, finalizers: readonly string[]) => {
    const { metadata, ...rest } = goStruct(object);
    const body = { ...rest, metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) } };
    return client.send<KubernetesObject>('PUT', path, { headers: json, body });
  };
  const held = await put(created, ['example.com/hold']);
  t.equal(held.status, 200);
  const watch = await client.watch(
    `${gadgetsPath}?allowWatchBookmarks=true&resourceVersion=${held.body.metadata.resourceVersion ?? ''}&watch=true`,
    { accept: json.accept },
  );
  // The group's own options, as its codec writes them.
  const options = {
    kind: 'DeleteOptions',
    apiVersion: 'tools.example/v1',
    preconditions: { uid: held.body.metadata.uid },
  };
  t.match(await client.send('DELETE', path, { headers: json, body: options }), { status: 200 });
  const marked = await watch.next();
  t.match(marked, { type: 'MODIFIED', object: { metadata: { deletionTimestamp: /./u } } });
  const { finalizers: _removed, ...metadata } = marked!.object.metadata;
  t.match(await put({ ...marked!.object, metadata }, []), { status: 200 });
  let event = await watch.next();
  if (event?.type === 'MODIFIED') event = await watch.next();
  t.match(event, { type: 'DELETED', object: { metadata: { name: 'a' } } });
  t.ok(
    isNotFound(await client.send('GET', path, { headers: { accept: json.accept } })),
    'IgnoreNotFound recognizes it',
  );
});

test('Delete with a stale precondition is a conflict, and one of nothing is not found', async (t) => {
  const { client } = await given(t);
  const uid = '00000000-0000-4000-8000-000000000000';
  const options = { kind: 'DeleteOptions', apiVersion: 'tools.example/v1', preconditions: { uid } };
  t.match(await client.send('DELETE', path, { headers: json, body: options }), {
    status: 409,
    body: { reason: 'Conflict' },
  });
  t.ok(isNotFound(await client.send('DELETE', `${gadgetsPath}/none`, { headers: json, body: options })));
});

test('DeleteAllOf deletes what its selector selects', async (t) => {
  const { client } = await given(t);
  const body = newStruct('b', { labels: { lot: 'x' } });
  await client.send('POST', gadgetsPath, { headers: json, body });
  const removed = await client.send('DELETE', `${gadgetsPath}?labelSelector=lot%3Dx`, {
    headers: json,
    body: { kind: 'DeleteOptions', apiVersion: 'tools.example/v1', propagationPolicy: 'Background' },
  });
  t.equal(removed.status, 200);
  const list = await client.send<ObjectList>('GET', gadgetsPath, { headers: { accept: json.accept } });
  t.strictSame(
    list.body.items.map(({ metadata }) => metadata.name),
    ['a'],
  );
});

test('Apply is refused with the reason, and writes nothing', async (t) => {
  const { client, created } = await given(t);
  const headers = { ...json, 'content-type': 'application/apply-patch+yaml' };
  const answer = await client.send('PATCH', `${path}?fieldManager=test&force=true`, { headers, body: gadget('a') });
  t.match(answer, { status: 415, body: { kind: 'Status', reason: 'UnsupportedMediaType', message: /merge-patch/u } });
  const got = await client.send<KubernetesObject>('GET', path, { headers: { accept: json.accept } });
  t.equal(got.body.metadata.resourceVersion, created.metadata.resourceVersion);
});

test('leader election, whose Leases are not served, learns so in the form that it reads', async (t) => {
  const { client } = await given(t);
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  t.ok(isNotFound(await client.send('GET', `${leases}/leader`, { headers: { accept: protobuf.accept } })));
  const body = Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(64)]);
  t.ok(isNotFound(await client.send('POST', leases, { headers: protobuf, body })));
  t.ok(isNotFound(await client.send('PUT', `${leases}/leader`, { headers: protobuf, body })));
});

test('events, which are not served, are refused in the form that the recorder logs', async (t) => {
  const { client } = await given(t);
  const body = Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(64)]);
  for (const group of ['/api/v1', '/apis/events.k8s.io/v1'])
    t.ok(
      isNotFound(await client.send('POST', `${group}/namespaces/default/events`, { headers: protobuf, body })),
      group,
    );
});

test('a typed client that sends an object in protobuf is refused, and nothing is written', async (t) => {
  const { client } = await given(t);
  const body = Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(64)]);
  const refused = await client.send('POST', '/api/v1alpha1/users', { headers: protobuf, body });
  t.match(refused, { status: 415, body: { kind: 'Status', reason: 'UnsupportedMediaType' } });
});
