/**
 * The requests of client-go's metadata client and its informers, which garbage collectors and metadata-only caches of
 * controller-runtime use (metadata/metadata.go and metadata/metadatainformer at commit 32ce75a7d6bc of July 2026).
 */
import { test, type Test } from 'tap';

import { gadget, gadgetsPath, type KubernetesObject } from '../../support/kubernetes/gadgets.ts';
import { ClientRequests, isNotFound } from './client-requests.ts';
import { Reflector, type ReflectedForm } from './reflector.ts';

function acceptOf(kind: string): string {
  const form = `as=${kind};g=meta.k8s.io;v=v1`;
  return `application/vnd.kubernetes.protobuf;${form},application/json;${form},application/json`;
}

const kind = 'PartialObjectMetadata';
const accepts = { list: acceptOf(`${kind}List`), watch: acceptOf(kind) };
const one = { accept: accepts.watch };
/** A watch also has the time limit of its connection as a parameter. */
const form: ReflectedForm = { accepts, apiVersion: 'meta.k8s.io/v1', kind, watch: { timeout: '7m17s' } };

async function given(t: Test) {
  const client = await ClientRequests.given(t);
  const create = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const body = { ...gadget(name, { title: 'never shown' }), metadata: { name, labels: { team: 'red' } } };
      const { status } = await client.send('POST', gadgetsPath, {
        headers: { 'content-type': 'application/json' },
        body,
      });
      t.equal(status, 201);
    }
  };
  const reflector = new Reflector(client, gadgetsPath, form);
  return { client, create, reflector, names: () => [...reflector.store.keys()].sort() };
}

function areBare(objects: Iterable<KubernetesObject>): boolean {
  return [...objects].every((object) =>
    Object.keys(object).every((member) => ['apiVersion', 'kind', 'metadata'].includes(member)),
  );
}

const ways = {
  'list and watch': async (reflector: Reflector) => {
    await reflector.list();
    return reflector.openWatch();
  },
  'state and changes on one watch': async (reflector: Reflector) => reflector.watchList(),
};

for (const [way, begin] of Object.entries(ways))
  test(`an informer of metadata follows by ${way}, through a restart`, async (t) => {
    const { client, create, reflector, names } = await given(t);
    await create('a', 'b');
    const stream = await begin(reflector);
    t.strictSame(names(), ['a', 'b']);
    t.equal(stream.headers['content-type'], 'application/json', 'the answer can be decoded');
    await create('c');
    const patched = await client.send<KubernetesObject>('PATCH', `${gadgetsPath}/a`, {
      headers: { ...one, 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { team: 'blue' } } },
    });
    t.match(patched, {
      status: 200,
      body: { apiVersion: form.apiVersion, kind, metadata: { labels: { team: 'blue' } } },
    });
    t.ok(areBare([patched.body]), 'the answer to a patch is metadata too');
    const isPatched = (): boolean => reflector.store.get('a')?.metadata.labels?.['team'] === 'blue';
    t.equal(await reflector.follow(stream, isPatched), 'enough');
    t.strictSame(names(), ['a', 'b', 'c']);
    const removed = await client.send('DELETE', `${gadgetsPath}/b`, {
      headers: { accept: 'application/vnd.kubernetes.protobuf,application/json', 'content-type': 'application/json' },
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
    });
    t.equal(removed.status, 200);
    t.equal(await reflector.follow(stream, () => !reflector.store.has('b')), 'enough');
    t.ok(areBare(reflector.store.values()));

    client.server = await client.server.restart();
    t.equal(await reflector.follow(stream, () => false), 'ended');
    await create('d');
    t.equal(await reflector.follow(await reflector.openWatch(), () => reflector.store.has('d')), 'enough');
    t.strictSame(names(), ['a', 'c', 'd']);
    t.ok(areBare(reflector.store.values()));
  });

test('a list of metadata of several pages is whole', async (t) => {
  const { client, create, reflector, names } = await given(t);
  const expected = Array.from({ length: 501 }, (_, index) => `g-${String(index)}`).sort();
  await Promise.all(Array.from({ length: 8 }, async (_, part) => create(...expected.filter((_, i) => i % 8 === part))));
  await reflector.list();
  t.strictSame(names(), expected);
  t.equal(reflector.requests.length, 2);
  t.ok(areBare(reflector.store.values()));
  const got = await client.send<KubernetesObject>('GET', `${gadgetsPath}/g-0`, { headers: one });
  t.strictSame(got.body, reflector.store.get('g-0'), 'an object is the item of the list');
});

test('an expired position heals, and what is missing is a Status', async (t) => {
  const { client, create, reflector, names } = await given(t);
  await create('a');
  reflector.lastVersion = '999999999';
  t.equal(await reflector.follow(await reflector.openWatch(), () => false), 'expired');
  await reflector.watchList();
  t.strictSame(names(), ['a']);
  t.ok(isNotFound(await client.send('GET', `${gadgetsPath}/none`, { headers: one })));
});
