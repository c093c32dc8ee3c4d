import { test } from 'tap';

import { escapeToken } from '../../src/base/reference-token.ts';
import { draftOf, metadataViolations, namesOf } from '../../src/resource/object/draft.ts';

const pointers = (violations: readonly { readonly pointer: string }[]) =>
  violations.map(({ pointer }) => pointer).sort();

test('a draft separates the members that clients may set from those of the server', async (t) => {
  const draft = draftOf({
    apiVersion: 'v1',
    kind: 'K',
    data: [1],
    spec: { a: 1 },
    metadata: {
      name: 'n',
      generateName: 'g',
      uid: 'u',
      version: 3,
      resourceVersion: '9',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['f', 'f'],
      ownerReferences: [],
      creationTimestamp: 'x',
      generation: 'x',
      deletionTimestamp: 1,
      managedFields: 1,
      selfLink: 1,
      deletionGracePeriodSeconds: 1,
    },
  });
  t.strictSame(draft, {
    apiVersion: 'v1',
    kind: 'K',
    name: 'n',
    generateName: 'g',
    uid: 'u',
    version: 3,
    resourceVersion: '9',
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['f'],
    ownerReferences: undefined,
    members: { data: [1], spec: { a: 1 } },
    violations: [],
    unknown: [],
  });
});

test('missing, null and empty are all absent', async (t) => {
  const empty = draftOf({});
  t.strictSame(draftOf({ metadata: {} }), empty);
  t.strictSame(
    draftOf({
      apiVersion: null,
      kind: null,
      metadata: {
        name: null,
        generateName: null,
        uid: null,
        version: null,
        resourceVersion: null,
        labels: null,
        annotations: null,
        finalizers: null,
        ownerReferences: null,
        namespace: null,
      },
    }),
    empty,
  );
  t.strictSame(
    draftOf({
      metadata: {
        name: '',
        generateName: '',
        uid: '',
        resourceVersion: '',
        labels: {},
        annotations: {},
        finalizers: [],
        ownerReferences: [],
        namespace: '',
      },
    }),
    empty,
  );
});

test('members of a wrong type are reported one by one, and treated as absent', async (t) => {
  const draft = draftOf({
    apiVersion: 1,
    kind: [],
    metadata: {
      name: 1,
      generateName: {},
      uid: true,
      version: '1',
      resourceVersion: 1,
      labels: [],
      annotations: 'x',
      finalizers: { a: 1 },
      ownerReferences: 'x',
      namespace: 1,
    },
  });
  t.strictSame(
    pointers(draft.violations),
    [
      '/apiVersion',
      '/kind',
      ...[
        'name',
        'generateName',
        'uid',
        'version',
        'resourceVersion',
        'labels',
        'annotations',
        'finalizers',
        'ownerReferences',
        'namespace',
      ].map((member) => `/metadata/${member}`),
    ].sort(),
  );
  t.strictSame({ ...draft, violations: [] }, draftOf({}));
});

test('the names that are read separately equal those of the draft', async (t) => {
  for (const metadata of [
    undefined,
    null,
    [],
    'x',
    {},
    { name: '' },
    { name: 'a', generateName: 'b' },
    { name: 1, generateName: [] },
    { name: null, generateName: 'b' },
  ]) {
    const { name, generateName } = draftOf({ metadata });
    t.strictSame(namesOf({ metadata }), { name, generateName });
  }
});

test('an object without namespaces may not name one', async (t) => {
  t.strictSame(pointers(draftOf({ metadata: { namespace: 'default' } }).violations), ['/metadata/namespace']);
});

test('one wrong entry invalidates its map or reference, and no other', async (t) => {
  const draft = draftOf({
    metadata: {
      labels: { a: 'x', 'b/c~d': null },
      finalizers: ['f', 1, null],
      ownerReferences: [
        { apiVersion: 'v', kind: 'k', name: 'n', uid: 'u' },
        { apiVersion: 'v', kind: 'k', name: '', uid: 1, controller: 'x', blockOwnerDeletion: null },
        null,
      ],
    },
  });
  t.strictSame(
    pointers(draft.violations),
    [
      '/metadata/finalizers/1',
      '/metadata/finalizers/2',
      '/metadata/labels/b~1c~0d',
      '/metadata/ownerReferences/1/blockOwnerDeletion',
      '/metadata/ownerReferences/1/controller',
      '/metadata/ownerReferences/1/name',
      '/metadata/ownerReferences/1/uid',
      '/metadata/ownerReferences/2',
    ].sort(),
  );
  t.strictSame(draft.ownerReferences, [{ apiVersion: 'v', kind: 'k', name: 'n', uid: 'u' }]);
});

test('unknown members of metadata and of owners are listed and left out', async (t) => {
  const draft = draftOf({
    metadata: {
      odd: 1,
      'a/b': 2,
      clusterName: 'x',
      ownerReferences: [{ apiVersion: 'v', kind: 'k', name: 'n', uid: 'u', 'x/y': 1 }],
    },
  });
  t.strictSame([...draft.unknown].sort(), [
    '/metadata/a~1b',
    '/metadata/clusterName',
    '/metadata/odd',
    '/metadata/ownerReferences/0/x~1y',
  ]);
  t.strictSame(draft.ownerReferences, [{ apiVersion: 'v', kind: 'k', name: 'n', uid: 'u' }]);
  t.strictSame(draft.violations, []);
});

test('a version is a whole number in the range of revisions', async (t) => {
  for (const version of [0, 1, Number.MAX_SAFE_INTEGER]) t.equal(draftOf({ metadata: { version } }).version, version);
  for (const version of [-1, 0.5, 2 ** 53, Number.NaN, Infinity, '0', true])
    t.strictSame(pointers(draftOf({ metadata: { version } }).violations), ['/metadata/version'], String(version));
});

test('integer-like top-level members, which the engine would reorder, are refused', async (t) => {
  t.strictSame(pointers(draftOf({ 0: 1, 17: 1, '01': 1, '1.5': 1, '-1': 1, a: 1 }).violations), ['/0', '/17']);
});

test('a plugin may keep existing reserved labels unchanged', async (t) => {
  const rules = { origin: 'plugin' as const, domain: 'svc.run', storedLabels: { team: 'red', 'svc.run/x': '1' } };
  t.strictSame(metadataViolations(draftOf({ metadata: { labels: { team: 'red', 'svc.run/x': '1' } } }), rules), []);
  t.strictSame(
    pointers(
      metadataViolations(draftOf({ metadata: { labels: { team: 'blue', 'svc.run/x': '1', other: '' } } }), rules),
    ),
    ['/metadata/labels/other', '/metadata/labels/team'],
  );
  t.strictSame(
    pointers(
      metadataViolations(draftOf({ metadata: { labels: { team: 'red' } } }), { ...rules, storedLabels: undefined }),
    ),
    ['/metadata/labels/team'],
  );
});

test('a token of a pointer is escaped so that it reads back as itself', async (t) => {
  t.equal(escapeToken('a/b~c~1'), 'a~1b~0c~01');
});
