import { test } from 'tap';

import { clientNode, givenClientNode, refusalOf } from '../support/kubernetes/client-node.ts';
import { gadget, gadgets, gadgetsPath, gadgetVersion } from '../support/kubernetes/gadgets.ts';

const { AuthorizationV1Api, PatchStrategy, setHeaderOptions, Watch } = clientNode;

test('KubernetesObjectApi creates, reads, replaces, patches, lists and deletes', async (t) => {
  const { objects } = await givenClientNode(t);
  const created = await objects.create(gadget('one', { size: 1, title: 'One' }));
  t.match(created, { kind: 'Gadget', metadata: { name: 'one', resourceVersion: /^[1-9]\d*$/u }, spec: { size: 1 } });
  t.ok(created.metadata.creationTimestamp instanceof Date, 'the library reads the time as one');

  const read = await objects.read(gadget('one'));
  t.notOk('version' in read.metadata, 'the library keeps the members of ObjectMeta only');
  const replaced = await objects.replace({ ...read, spec: { ...read.spec, size: 2 } });
  t.match(replaced, { metadata: { uid: created.metadata.uid }, spec: { size: 2 } });

  const patch = { ...gadget('one'), spec: { size: 3 } };
  const options = [undefined, undefined, 'test', undefined, PatchStrategy.MergePatch] as const;
  t.match(await objects.patch(patch, ...options), { spec: { title: 'One', size: 3 } });

  await objects.create(gadget('two'));
  const listed = await objects.list(gadgetVersion, 'Gadget');
  t.strictSame(listed.items.map(({ metadata }) => metadata.name).sort(), ['one', 'two']);
  // The library expects a Status and reads the deleted object as one.
  t.match(await objects.delete(gadget('one')), { kind: 'Gadget' });
  t.strictSame(await refusalOf(objects.read(gadget('one'))), [404, 'NotFound']);
});

test('a replace with a stale resourceVersion is a conflict, and nothing is written', async (t) => {
  const { objects } = await givenClientNode(t);
  const first = await objects.create(gadget('one', { size: 1 }));
  await objects.replace({ ...first, spec: { ...first.spec, size: 2 } });
  t.strictSame(await refusalOf(objects.replace({ ...first, spec: { ...first.spec, size: 3 } })), [409, 'Conflict']);
  t.match(await objects.read(gadget('one')), { spec: { size: 2 } });
  t.strictSame(await refusalOf(objects.create(gadget('one'))), [409, 'AlreadyExists']);
});

test('a strategic merge patch and a server-side apply are refused as unsupported media types', async (t) => {
  const { objects } = await givenClientNode(t);
  await objects.create(gadget('one'));
  t.strictSame(await refusalOf(objects.patch(gadget('one'))), [415, 'UnsupportedMediaType']);
  const applied = objects.patch(
    ...([gadget('one'), undefined, undefined, 'test', true, PatchStrategy.ServerSideApply] as const),
  );
  t.strictSame(await refusalOf(applied), [415, 'UnsupportedMediaType']);
});

test('what is invalid is refused with the fields at fault', async (t) => {
  const { objects } = await givenClientNode(t);
  const error = (await objects.create(gadget('one', { size: -1 })).catch((thrown: unknown) => thrown)) as {
    readonly code: number;
    readonly body: string;
  };
  t.equal(error.code, 422);
  t.match(JSON.parse(error.body), { reason: 'Invalid', details: { name: 'one', causes: [{ field: 'spec.size' }] } });
});

test('CustomObjectsApi pages by limit and continue through every object once', async (t) => {
  const { custom } = await givenClientNode(t);
  const names = Array.from({ length: 9 }, (_, index) => `w${String(index)}`);
  for (const name of names) await custom.createClusterCustomObject({ ...gadgets, body: gadget(name) });
  const seen: (string | undefined)[] = [];
  const versions = new Set<string | undefined>();
  let _continue: string | undefined;
  do {
    const page = await custom.listClusterCustomObject({
      ...gadgets,
      limit: 2,
      ...(_continue === undefined ? {} : { _continue }),
    });
    t.equal(page.total, 9, 'members that the library does not know are kept');
    seen.push(...page.items.map(({ metadata }) => metadata.name));
    versions.add(page.metadata.resourceVersion);
    _continue = page.metadata.continue;
  } while (_continue !== undefined && _continue !== '');
  t.strictSame(seen.toSorted(), names);
  t.equal(versions.size, 1, 'all pages name the position to watch from');
});

test('CustomObjectsApi patches in both forms, and the status by its own path', async (t) => {
  const { custom } = await givenClientNode(t);
  await custom.createClusterCustomObject({ ...gadgets, body: gadget('one', { size: 1 }) });
  const one = { ...gadgets, name: 'one' };
  const operations = [{ op: 'replace', path: '/spec/size', value: 2 }];
  t.match(await custom.patchClusterCustomObject({ ...one, body: operations }), { spec: { size: 2 } });
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  t.match(await custom.patchClusterCustomObject({ ...one, body: { spec: { size: 3 } } }, merge), { spec: { size: 3 } });
  const failing = [{ op: 'test', path: '/spec/size', value: 1 }];
  t.strictSame(await refusalOf(custom.patchClusterCustomObject({ ...one, body: failing })), [422, 'Invalid']);

  const patched = await custom.patchClusterCustomObjectStatus(
    { ...one, body: { status: { phase: 'on' }, spec: { size: 9 } } },
    merge,
  );
  t.match(patched, { spec: { size: 3 }, status: { phase: 'on' } });
  await custom.replaceClusterCustomObjectStatus({ ...one, body: { ...patched, status: { phase: 'off' } } });
  t.match(await custom.getClusterCustomObjectStatus(one), { spec: { size: 3 }, status: { phase: 'off' } });
});

test('CustomObjectsApi deletes, also a collection, with an empty body of JSON', async (t) => {
  const { custom } = await givenClientNode(t);
  for (const name of ['one', 'two', 'three'])
    await custom.createClusterCustomObject({
      ...gadgets,
      body: gadget(name, {}, { labels: { tier: name === 'one' ? 'kept' : 'gone' } }),
    });
  const removed = await custom.deleteCollectionClusterCustomObject({ ...gadgets, labelSelector: 'tier=gone' });
  t.strictSame(removed.items.map(({ metadata }) => metadata.name).sort(), ['three', 'two']);
  await custom.deleteClusterCustomObject({ ...gadgets, name: 'one' });
  t.strictSame((await custom.listClusterCustomObject(gadgets)).items, []);
});

test('AuthorizationV1Api learns the own rights', async (t) => {
  const { config } = await givenClientNode(t);
  const authorization = config.makeApiClient(AuthorizationV1Api);
  const resourceAttributes = { group: gadgets.group, resource: 'gadgets', verb: 'delete' };
  const review = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
  t.equal(review.status.allowed, true);
  const rules = await authorization.createSelfSubjectRulesReview({ body: { spec: { namespace: 'default' } } });
  t.ok(rules.status.resourceRules.length > 0);
});

test('Watch shows the changes after a list, and its end', async (t) => {
  const { server, config, custom } = await givenClientNode(t);
  await custom.createClusterCustomObject({ ...gadgets, body: gadget('before') });
  const { metadata } = await custom.listClusterCustomObject(gadgets);
  const story: string[] = [];
  const versions: bigint[] = [];
  let seen: () => void;
  const allSeen = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const ended = new Promise<unknown>((resolve, reject) => {
    const onEvent = (
      type: string,
      object: { readonly metadata: { name?: string; resourceVersion?: string } },
    ): void => {
      story.push(`${type} ${object.metadata.name ?? ''}`);
      versions.push(BigInt(object.metadata.resourceVersion ?? '0'));
      if (type === 'DELETED') seen();
    };
    const query = { resourceVersion: metadata.resourceVersion ?? '' };
    new Watch(config).watch(`${gadgetsPath}?allowWatchBookmarks=true`, query, onEvent, resolve).catch(reject);
  });
  await custom.createClusterCustomObject({ ...gadgets, body: gadget('after') });
  const patch = [{ op: 'add', path: '/spec/size', value: 4 }];
  await custom.patchClusterCustomObject({ ...gadgets, name: 'after', body: patch });
  await custom.deleteClusterCustomObject({ ...gadgets, name: 'after' });
  await allSeen;
  // A deletion marks the object first.
  t.strictSame(story, ['ADDED after', 'MODIFIED after', 'MODIFIED after', 'DELETED after']);
  t.ok(versions.every((version, index) => index === 0 || version > (versions[index - 1] ?? 0n)));
  await server.close();
  t.equal(await ended, null, 'a server that stops ends its watches cleanly');
});
