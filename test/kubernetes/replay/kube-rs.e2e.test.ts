/** The requests of kube-rs 4.2.0: kube-core/src/{request,params,watch}.rs, kube-runtime/src/{watcher,finalizer}.rs. */
import { test, type Test } from 'tap';

import { gadget, gadgetsPath, type KubernetesObject } from '../../support/kubernetes/gadgets.ts';
import { ClientRequests, isNotFound, type EventStream, type ObjectList } from './client-requests.ts';

const json = { 'content-type': 'application/json' };
const jsonPatch = { accept: 'application/json', 'content-type': 'application/json-patch+json' };
const mergePatch = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
const path = `${gadgetsPath}/a`;
const watching = 'watch=true&timeoutSeconds=290&allowWatchBookmarks=true';

async function given(t: Test) {
  const client = await ClientRequests.given(t);
  const created = await client.send<KubernetesObject>('POST', `${gadgetsPath}?`, { headers: json, body: gadget('a') });
  t.equal(created.status, 201);
  const patch = async (operations: readonly object[]) =>
    client.send<KubernetesObject>('PATCH', `${path}?`, { headers: jsonPatch, body: operations });
  return { client, patch };
}

/** Up to the first event that is not a bookmark. */
async function nextChange(stream: EventStream) {
  let event = await stream.next();
  while (event?.type === 'BOOKMARK') event = await stream.next();
  return event;
}

test("the watcher's lists and watches work, which name no media type", async (t) => {
  const { client } = await given(t);
  await client.send('POST', `${gadgetsPath}?`, { headers: json, body: gadget('b') });
  const names: (string | undefined)[] = [];
  let page = await client.send<ObjectList>('GET', `${gadgetsPath}?&limit=1`);
  for (;;) {
    names.push(...page.body.items.map(({ metadata }) => metadata.name));
    const token = page.body.metadata.continue ?? '';
    if (token === '') break;
    page = await client.send<ObjectList>('GET', `${gadgetsPath}?&limit=1&continue=${encodeURIComponent(token)}`);
  }
  t.strictSame(names.sort(), ['a', 'b']);
  const { resourceVersion } = page.body.metadata;
  const stream = await client.watch(`${gadgetsPath}?&${watching}&resourceVersion=${resourceVersion}`);
  await client.send('DELETE', `${gadgetsPath}/b?`, { headers: json, body: {} });
  t.match(await nextChange(stream), {
    type: 'MODIFIED',
    object: { metadata: { name: 'b', resourceVersion: /^\d+$/u } },
  });
  t.match(await nextChange(stream), {
    type: 'DELETED',
    object: { metadata: { name: 'b', resourceVersion: /^\d+$/u } },
  });
  const any = await client.send<ObjectList>(
    'GET',
    `${gadgetsPath}?&resourceVersion=0&resourceVersionMatch=NotOlderThan`,
  );
  t.match(any, { status: 200, body: { items: [{ metadata: { name: 'a' } }] } });
});

test("the watcher's streaming list ends with a marked bookmark, and its watch goes on", async (t) => {
  const { client, patch } = await given(t);
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0';
  const stream = await client.watch(`${gadgetsPath}?&${watching}&${initial}`);
  t.match(await stream.next(), { type: 'ADDED', object: { metadata: { name: 'a' } } });
  t.match(await stream.next(), {
    type: 'BOOKMARK',
    object: {
      apiVersion: 'tools.example/v1',
      kind: 'Gadget',
      metadata: { resourceVersion: /^\d+$/u, annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  });
  await patch([{ op: 'add', path: '/spec/size', value: 1 }]);
  t.match(await nextChange(stream), { type: 'MODIFIED', object: { spec: { size: 1 } } });
});

test('an expired watch has the code that makes the watcher begin anew', async (t) => {
  const { client } = await given(t);
  const stream = await client.watch(`${gadgetsPath}?&${watching}&resourceVersion=999999999`);
  t.match(await stream.next(), { type: 'ERROR', object: { status: 'Failure', code: 410, reason: 'Expired' } });
  t.equal(await stream.next(), undefined);
});

test('a finalizer is added where none is, added to others, and removed by its index', async (t) => {
  const { patch, client } = await given(t);
  const none = { op: 'test', path: '/metadata/finalizers', value: null };
  const first = await patch([none, { op: 'add', path: '/metadata/finalizers', value: ['kube.rs/one'] }]);
  t.match(first, { status: 200, body: { metadata: { finalizers: ['kube.rs/one'] } } });
  const late = await patch([none, { op: 'add', path: '/metadata/finalizers', value: ['kube.rs/late'] }]);
  t.match(late, { status: 422, body: { reason: 'Invalid', status: 'Failure' } }, 'another one was faster');
  const second = await patch([
    { op: 'test', path: '/metadata/finalizers', value: ['kube.rs/one'] },
    { op: 'add', path: '/metadata/finalizers/-', value: 'kube.rs/two' },
  ]);
  t.match(second, { status: 200, body: { metadata: { finalizers: ['kube.rs/one', 'kube.rs/two'] } } });

  const marked = await client.send<KubernetesObject>('DELETE', `${path}?`, { headers: json, body: {} });
  t.match(marked, { status: 200, body: { kind: 'Gadget', metadata: { deletionTimestamp: /./u } } });
  const removal = (place: number, value: string) => [
    { op: 'test', path: `/metadata/finalizers/${String(place)}`, value },
    { op: 'remove', path: `/metadata/finalizers/${String(place)}` },
  ];
  t.equal((await patch(removal(0, 'kube.rs/two'))).status, 422, 'not that of another controller');
  t.equal((await patch(removal(1, 'kube.rs/two'))).status, 200);
  t.equal((await patch(removal(0, 'kube.rs/one'))).status, 200);
  t.ok(isNotFound(await client.send('GET', path)));
});

test('the status is patched and replaced by its path', async (t) => {
  const { client } = await given(t);
  const body = { status: { phase: 'on' } };
  const patched = await client.send<KubernetesObject>('PATCH', `${path}/status?`, { headers: mergePatch, body });
  t.match(patched, { status: 200, body });
  const replaced = await client.send<KubernetesObject>('PUT', `${path}/status?`, {
    headers: json,
    body: { ...patched.body, status: { phase: 'off' } },
  });
  t.match(replaced, { status: 200, body: { status: { phase: 'off' } } });
});

test('a collection is deleted by a request with a media type and no body', async (t) => {
  const { client } = await given(t);
  t.equal((await client.send('DELETE', `${gadgetsPath}?`, { headers: { ...json, 'content-length': 0 } })).status, 200);
  const list = await client.send<ObjectList>('GET', `${gadgetsPath}?`);
  t.strictSame(list.body.items, []);
});

test('server-side apply is refused with a Status', async (t) => {
  const { client } = await given(t);
  const answer = await client.send('PATCH', `${path}?&force=true&fieldManager=test`, {
    headers: { accept: 'application/json', 'content-type': 'application/apply-patch+yaml' },
    body: gadget('a'),
  });
  t.match(answer, { status: 415, body: { kind: 'Status', status: 'Failure', code: 415 } });
});

test('an event and a lease are refused as not found', async (t) => {
  const { client } = await given(t);
  for (const place of [
    '/apis/events.k8s.io/v1/namespaces/default/events?',
    '/apis/coordination.k8s.io/v1/namespaces/default/leases?',
  ])
    t.ok(isNotFound(await client.send('POST', place, { headers: json, body: { metadata: { name: 'x' } } })), place);
});
