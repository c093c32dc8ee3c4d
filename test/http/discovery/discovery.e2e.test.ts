/** Discovery in its plain and its aggregated form, as Kubernetes' clients ask for it. */
import t, { test } from 'tap';

import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration } from '../../support/server/administration.ts';
import { ask, type Answered } from '../../support/ask.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';
import { Watching } from '../../support/watching.ts';

const folder = await temporaryFolder(t);
await writePlugins(folder, {
  late: {
    'plugin.yaml': manifestYaml('late', { main: 'main.mjs', enabled: false }),
    'main.mjs': moduleText('lates', { group: 'late.example' }),
  },
});
const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
t.teardown(() => server.remove());

const mediaType = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const kubectlAccept = `${mediaType('v2')},${mediaType('v2beta1')},application/json`;

async function read(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answered> {
  return ask(server.url, path, { method, headers });
}

function json(answered: Answered): Record<string, unknown> {
  return JSON.parse(answered.text) as Record<string, unknown>;
}

test('the aggregated form is on /api and /apis, for those that ask for it', async (t) => {
  for (const path of ['/api', '/apis']) {
    const aggregated = await read(path, { accept: kubectlAccept });
    t.match(aggregated, { status: 200, headers: { 'content-type': mediaType('v2'), vary: 'Accept' } });
    t.match(json(aggregated), { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} });
    const beta = await read(path, { accept: `${mediaType('v2beta1')},application/json` });
    t.match(beta, { status: 200, headers: { 'content-type': mediaType('v2beta1'), vary: 'Accept' } });
    t.strictSame(json(beta), { ...json(aggregated), apiVersion: 'apidiscovery.k8s.io/v2beta1' });
    const plain = await read(path, { accept: `application/json,${kubectlAccept}` });
    t.match(plain, { status: 200, headers: { 'content-type': 'application/json', vary: 'Accept' } });
    t.match(json(plain), { kind: path === '/api' ? 'APIVersions' : 'APIGroupList' });
    t.equal(new Set([aggregated, beta, plain].map(({ headers }) => headers.etag)).size, 3, 'each form has a tag');
  }
  const below = await read('/apis/authorization.k8s.io', { accept: kubectlAccept });
  t.match(below, { status: 200, headers: { 'content-type': 'application/json' } });
  t.match(json(below), { kind: 'APIGroup' });
});

test('the aggregated form lists what the plain one does, subresources below their resource', async (t) => {
  type Row = { name: string; singularName: string; kind: string; group?: string; version?: string; verbs: string[] };
  type Sub = { subresource: string; responseKind: { kind: string }; verbs: string[] };
  type Resource = Omit<Sub, 'subresource'> & {
    resource: string;
    singularResource: string;
    scope: string;
    subresources?: Sub[];
  };
  type Item = {
    metadata: { name?: string };
    versions: { version: string; freshness: string; resources: Resource[] }[];
  };
  let rows = 0;
  for (const root of ['/api', '/apis']) {
    const { items } = json(await read(root, { accept: mediaType('v2') })) as { items: Item[] };
    for (const { metadata, versions } of items) {
      t.equal(metadata.name === undefined, root === '/api', 'only the core group has no name');
      // The core group's v1, which has none, is in the aggregated form alone.
      for (const { version, freshness, resources } of versions.filter((each) => each.resources.length > 0)) {
        t.equal(freshness, 'Current');
        const path = [root, metadata.name, version].filter((part) => part !== undefined).join('/');
        const plain = json(await read(path)) as { resources: Row[] };
        const flat = resources.flatMap(
          ({ resource, singularResource, scope, responseKind, verbs, subresources = [] }) => {
            t.equal(scope, 'Cluster');
            t.match(responseKind, { group: metadata.name ?? '', version });
            return [
              { name: resource, singularName: singularResource, kind: responseKind.kind, verbs },
              ...subresources.map((sub) => ({
                name: `${resource}/${sub.subresource}`,
                singularName: '',
                kind: sub.responseKind.kind,
                verbs: sub.verbs,
              })),
            ];
          },
        );
        t.strictSame(
          flat,
          plain.resources.map(({ name, singularName, kind, verbs }) => ({ name, singularName, kind, verbs })),
          path,
        );
        rows += flat.length;
      }
    }
  }
  t.ok(rows > 5);
});

test('every document has a tag, and an unchanged one is not sent again', async (t) => {
  const documents: readonly (readonly [path: string, accept: string])[] = [
    ...['/api', '/apis'].flatMap((path) =>
      [mediaType('v2'), mediaType('v2beta1'), '*/*'].map((accept) => [path, accept] as const),
    ),
    ...['/api/v1alpha1', '/apis/v1alpha1', '/apis/plugin.svc.run', '/apis/plugin.svc.run/v1alpha1'].map(
      (path) => [path, '*/*'] as const,
    ),
  ];
  for (const [path, accept] of documents) {
    const title = `${path} ${accept}`;
    const first = await read(path, { accept });
    const etag = first.headers.etag ?? '';
    t.match(etag, /^"[\w-]{43}"$/u, title);
    const head = await read(path, { accept }, 'HEAD');
    t.match(head, { status: 200, text: '' }, `HEAD ${title}`);
    for (const name of ['content-type', 'content-length', 'etag', 'vary'])
      t.equal(head.headers[name], first.headers[name], `HEAD ${title}: ${name}`);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const again = await read(path, { accept, 'if-none-match': known }, method);
        t.match(again, { status: 304, text: '', headers: { etag } }, `${method} ${title} ${known}`);
        t.equal(again.headers.vary, first.headers.vary);
        t.equal(again.headers['content-length'], undefined);
      }
    }
    for (const other of ['"other"', etag.slice(1, -1), '', `"x${etag}`, '1'])
      t.equal((await read(path, { accept, 'if-none-match': other })).status, 200, `${title} ${other}`);
  }
});

test('a type that is registered or removed changes the documents and their tags', async (t) => {
  const administration = new Administration(server.url);
  const enable = async (enabled: boolean, phase: string): Promise<void> => {
    const watched = await Watching.open(server.url, '/apis/plugin.svc.run/v1alpha1/plugins/late', {
      transport: 'json',
      headers: { authorization: adminAuthorization },
    });
    await administration.call('PATCH', '/apis/plugin.svc.run/v1alpha1/plugins/late', { spec: { enabled } });
    await watched.until(
      ({ events }) => (events.at(-1)?.object['status'] as { phase?: string } | undefined)?.phase === phase,
    );
    watched.leave();
  };
  const all = async (): Promise<readonly Answered[]> =>
    Promise.all([read('/apis', { accept: mediaType('v2') }), read('/apis'), read('/apis/late.example/v1')]);
  const before = await all();
  await enable(true, 'started');
  const during = await all();
  t.match(json(during[0] as Answered)['items'], /./u);
  t.match(during[0]?.text, /"resource":"lates"/u);
  t.match(during[1]?.text, /"groupVersion":"late.example\/v1"/u);
  t.match(during[2], { status: 200, text: /"name":"lates"/u });
  for (const place of [0, 1]) t.not(during[place]?.headers.etag, before[place]?.headers.etag);
  await enable(false, 'stopped');
  t.strictSame(
    (await all()).map(({ status, headers }) => [status, headers.etag]),
    before.map(({ status, headers }) => [status, headers.etag]),
    'equal documents have equal tags',
  );
});

test('the core group is found where Go clients look for it', async (t) => {
  t.equal((await read('/apis/v1alpha1')).text, (await read('/api/v1alpha1')).text);
  t.match(json(await read('/apis/v1alpha1')), { kind: 'APIResourceList', groupVersion: 'v1alpha1' });
  t.match(json(await read('/api')), { kind: 'APIVersions', versions: ['v1alpha1'] });
  t.notMatch((await read('/apis')).text, /"name":"v1alpha1"/u);
  const { items } = json(await read('/api', { accept: mediaType('v2') })) as { items: { versions: unknown[] }[] };
  t.match(items, [{ versions: [{ version: 'v1alpha1' }, { version: 'v1', resources: [] }] }], 'for the kind List');
  t.equal(items[0]?.versions.length, 2);
  for (const path of ['/apis/v1', '/api/v1', '/api/v2', '/apis/v1alpha1/v1alpha1', '/api/svc.run']) {
    const { status, headers } = await read(path, { accept: kubectlAccept });
    t.equal(status, 404, path);
    t.equal(headers.etag, undefined);
  }
});

test('access reviews are listed: they are only created', async (t) => {
  const reviews: Readonly<Record<string, readonly string[]>> = {
    'authorization.k8s.io': ['SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
    'authentication.k8s.io': ['SelfSubjectReview'],
  };
  const aggregated = json(await read('/apis', { accept: mediaType('v2') }))['items'] as {
    metadata: { name: string };
  }[];
  for (const [group, kinds] of Object.entries(reviews)) {
    const version = { groupVersion: `${group}/v1`, version: 'v1' };
    const members = { name: group, versions: [version], preferredVersion: version };
    t.strictSame(json(await read(`/apis/${group}`)), { kind: 'APIGroup', apiVersion: 'v1', ...members });
    t.match(
      (json(await read('/apis'))['groups'] as { name: string }[]).find(({ name }) => name === group),
      members,
    );
    t.strictSame(
      json(await read(`/apis/${group}/v1`))['resources'],
      kinds.map((kind) => ({
        name: `${kind.toLowerCase()}s`,
        singularName: kind.toLowerCase(),
        namespaced: false,
        kind,
        verbs: ['create'],
      })),
    );
    t.match(
      aggregated.find(({ metadata }) => metadata.name === group),
      {
        versions: [{ version: 'v1', resources: kinds.map((kind) => ({ responseKind: { kind }, verbs: ['create'] })) }],
      },
    );
  }
});
