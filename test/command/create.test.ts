import { test } from 'tap';

import {
  annotationsBytesMax,
  finalizersPerObjectMax,
  generateNameLengthMax,
  indexValueBytesMax,
  labelsPerObjectMax,
  nameLengthMax,
  ownerReferencesPerObjectMax,
} from '../../src/limits/objects.ts';
import { validationErrorsMax } from '../../src/limits/requests.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import {
  body,
  create,
  created,
  deleted,
  domain,
  drawnUid,
  givenFor,
  fenced,
  now,
  widget,
  widgetsWithStatus,
  widgetType,
} from '../support/given.ts';

/** What a create of `w1` stores: the server's metadata, then the client's. */
const fresh = { uid: drawnUid, creationTimestamp: now };

test("a create stores the client's members under metadata of the server", async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ spec: { title: 'One', size: 3, serial: 's', tags: ['a', 'b'] } })))
    .then(created(widget({ metadata: fresh, spec: { title: 'One', size: 3, serial: 's', tags: ['a', 'b'] } })));
});

test('server-managed metadata in the body is replaced', async (t) => {
  const given = givenFor(t);
  const claimed = {
    uid: 'mine',
    version: 41,
    generation: 9,
    creationTimestamp: '1999-01-01T00:00:00Z',
    deletionTimestamp: '1999-01-01T00:00:00Z',
    selfLink: '/x',
    managedFields: [{}],
    deletionGracePeriodSeconds: 0,
  };
  given()
    .when(create(body({ metadata: claimed })))
    .then(created(widget({ metadata: fresh })));
});

test('a create adds missing apiVersion and kind, and accepts no others', async (t) => {
  const given = givenFor(t);
  given()
    .when(create({ metadata: { name: 'w1' }, spec: { title: 'One' } }))
    .then(created(widget({ metadata: fresh })));
  given()
    .when(create(body({ apiVersion: 'example.com/v2' })))
    .thenRejected('bad-request')
    .thenDetail(/example\.com\/v1/u);
  given()
    .when(create(body({ kind: 'Gadget' })))
    .thenRejected('bad-request');
  given()
    .when(create(body({ apiVersion: '' })))
    .thenRejected('bad-request');
});

test('a create that sets a resourceVersion is refused: it is an exported object', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ metadata: { resourceVersion: '7' } })))
    .thenRejected('bad-request');
  given()
    .when(create(body({ metadata: { resourceVersion: '' } })))
    .then(created(widget({ metadata: fresh })));
  given()
    .when(
      create(
        body({
          metadata: {
            resourceVersion: null,
            name: 'w1',
            uid: null,
            version: null,
            labels: null,
            annotations: null,
            finalizers: null,
            ownerReferences: null,
          },
        }),
      ),
    )
    .then(created(widget({ metadata: fresh })));
});

test('a taken name is refused before the body is checked, and after it is read', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(create(body()))
    .thenRejected('already-exists')
    .thenDetail('widgets.example.com "w1" already exists');
  given(created())
    .when(create(body({ spec: {} })))
    .thenRejected('already-exists');
  given(created())
    .when(create(body({ kind: 'Gadget' })))
    .thenRejected('bad-request');
  given(created())
    .when(create(body({ metadata: { resourceVersion: '1' } })))
    .thenRejected('bad-request');
  given(created())
    .when(create(body({ junk: 1 })), { fieldValidation: 'Strict' })
    .thenRejected('bad-request');
});

test('a name created again continues its numbering, with another uid and generation 1', async (t) => {
  const given = givenFor(t);
  const last = widget({ metadata: { version: 2, generation: 4 } });
  given(created(), deleted(last))
    .when(create(body()))
    .then(created(widget({ metadata: { ...fresh, version: 2 } })));
  given(fenced())
    .when(create(body()))
    .then(created(widget({ metadata: { ...fresh, version: 1 } })));
});

test('generateName replaces a missing or empty name, and is completed with the drawn characters', async (t) => {
  const given = givenFor(t);
  const generated = widget({ metadata: { ...fresh, name: 'job-x7k2p', generateName: 'job-' } });
  const { name: _name, ...metadata } = { ...generated.metadata };
  for (const name of [null, ''])
    given()
      .when(create(body({ metadata: { name, generateName: 'job-' } })))
      .then(created({ ...generated, metadata: { name: 'job-x7k2p', generateName: 'job-', ...metadata } }));
  given()
    .when(create(body({ metadata: { name: 'w1', generateName: 'job-' } })))
    .then(created(widget({ metadata: { ...fresh, generateName: 'job-' } })));
});

test('a generateName too long is cut so that the drawn characters fit', async (t) => {
  const given = givenFor(t);
  const prefix = 'p'.repeat(generateNameLengthMax + 20);
  const name = `${'p'.repeat(generateNameLengthMax)}x7k2p`;
  given()
    .when(create(body({ metadata: { name: '', generateName: prefix } })))
    .then(created(widget({ metadata: { ...fresh, name, generateName: prefix } })));
});

test('a name is lowercase letters, digits and hyphens, at most 253 of them', async (t) => {
  const given = givenFor(t);
  for (const name of ['a', '0', 'a-b', 'a--b', '1-1', 'n'.repeat(nameLengthMax)])
    given()
      .when(create(body({ metadata: { name } })))
      .then(created(widget({ metadata: { ...fresh, name } })));
  for (const name of [
    'A',
    'a.b',
    'a_b',
    '-a',
    'a-',
    'a/b',
    'ä',
    'a\n',
    'a\0',
    '\ud800',
    ' ',
    'n'.repeat(nameLengthMax + 1),
    '__proto__',
  ]) {
    given()
      .when(create(body({ metadata: { name } })))
      .thenRejected('invalid', '/metadata/name');
  }
  given()
    .when(create(body({ metadata: { name: '', generateName: 'Job-' } })))
    .thenRejected('invalid', '/metadata/generateName');
  given()
    .when(create(body({ metadata: { name: '' } })))
    .thenRejected('invalid', '/metadata/name');
  given()
    .when(create({ spec: { title: 'One' } }))
    .thenRejected('invalid', '/metadata/name');
  given()
    .when(create(body({ metadata: { name: 7 } })))
    .thenRejected('invalid', '/metadata/name');
});

test('all violations are reported at once, of metadata and of the schema', async (t) => {
  const given = givenFor(t);
  const metadata = {
    name: 'w1',
    version: -1,
    uid: 7,
    labels: { '-': 'x', good: 3 },
    annotations: [],
    finalizers: ['/x', 4],
    ownerReferences: [{ kind: '' }, 'x'],
    namespace: 'here',
    odd: 1,
  };
  given()
    .when(create(body({ metadata, spec: { title: '', size: 'x', odd: 1 }, more: 1 })))
    .thenRejected(
      'invalid',
      '/metadata/version',
      '/metadata/uid',
      '/metadata/labels/good',
      '/metadata/annotations',
      '/metadata/finalizers/0',
      '/metadata/finalizers/1',
      '/metadata/ownerReferences/0/apiVersion',
      '/metadata/ownerReferences/0/kind',
      '/metadata/ownerReferences/0/name',
      '/metadata/ownerReferences/0/uid',
      '/metadata/ownerReferences/1',
      '/metadata/namespace',
      '/metadata/odd',
      '/spec/title',
      '/spec/size',
      '/spec/odd',
      '/more',
    );
});

test('the number of reported violations is bounded', async (t) => {
  const given = givenFor(t);
  const labels = Object.fromEntries(
    Array.from({ length: labelsPerObjectMax }, (_, index) => [`-${String(index)}`, 'x']),
  );
  const pointers = Object.keys(labels)
    .slice(0, validationErrorsMax)
    .map((key) => `/metadata/labels/${key}`);
  given()
    .when(create(body({ metadata: { labels } })))
    .thenRejected('invalid', ...pointers);
});

test('metadata that is no object is refused', async (t) => {
  const given = givenFor(t);
  for (const metadata of [null, 'x', 3, []])
    given()
      .when(create(body({ metadata })))
      .thenRejected('invalid', '/metadata', '/metadata/name');
});

test('label keys may have a prefix; values have at most 253 characters, none a control character', async (t) => {
  const given = givenFor(t);
  const labels = {
    plain: '',
    'example.com/team': 'Ä "quoted" \ud83d\ude00',
    'a.b-c/d_e.f': 'v'.repeat(253),
    ['k'.repeat(63)]: 'x',
  };
  given()
    .when(create(body({ metadata: { labels } })))
    .then(created(widget({ metadata: { ...fresh, labels } })));
  given()
    .when(create(body({ metadata: { labels: {} } })))
    .then(created(widget({ metadata: fresh })));
  for (const key of ['', '/x', 'x/', 'a/b/c', 'A.com/x', '-x', 'x-', 'ä', 'k'.repeat(64)]) {
    given()
      .when(create(body({ metadata: { labels: { [key]: 'x' } } })))
      .thenRejected('invalid', `/metadata/labels/${key.replaceAll('/', '~1')}`);
  }
  for (const value of ['v'.repeat(254), 'a\nb', '\0'])
    given()
      .when(create(body({ metadata: { labels: { key: value } } })))
      .thenRejected('invalid', '/metadata/labels/key');
  given()
    .when(create(body({ metadata: { labels: JSON.parse('{"__proto__":"x"}') as JsonValue } })))
    .thenRejected('invalid', '/metadata/labels/__proto__');
});

const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${String(index)}`, 'x']));

test('labels, finalizers, owners and annotations are bounded in number', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ metadata: { labels: numbered(labelsPerObjectMax) } })))
    .then(created(widget({ metadata: { ...fresh, labels: numbered(labelsPerObjectMax) } })));
  given()
    .when(create(body({ metadata: { labels: numbered(labelsPerObjectMax + 1) } })))
    .thenRejected('invalid', '/metadata/labels');
  const finalizers = Object.keys(numbered(finalizersPerObjectMax));
  given()
    .when(create(body({ metadata: { finalizers } })))
    .then(created(widget({ metadata: { ...fresh, finalizers } })));
  given()
    .when(create(body({ metadata: { finalizers: [...finalizers, 'more'] } })))
    .thenRejected('invalid', '/metadata/finalizers');
  const ownerReferences = Array.from({ length: ownerReferencesPerObjectMax }, () => owner);
  given()
    .when(create(body({ metadata: { ownerReferences } })))
    .then(created(widget({ metadata: { ...fresh, ownerReferences } })));
  given()
    .when(create(body({ metadata: { ownerReferences: [...ownerReferences, owner] } })))
    .thenRejected('invalid', '/metadata/ownerReferences');
  const annotations = { note: 'ä'.repeat((annotationsBytesMax - 4) / 2) };
  given()
    .when(create(body({ metadata: { annotations } })))
    .then(created(widget({ metadata: { ...fresh, annotations } })));
  given()
    .when(create(body({ metadata: { annotations: { note: `${annotations.note}x` } } })))
    .thenRejected('invalid', '/metadata/annotations');
});

test("annotations hold any text under keys of the labels' form", async (t) => {
  const given = givenFor(t);
  const annotations = { 'example.com/note': 'line\nline\0', empty: '' };
  given()
    .when(create(body({ metadata: { annotations } })))
    .then(created(widget({ metadata: { ...fresh, annotations } })));
  given()
    .when(create(body({ metadata: { annotations: { 'a/b/c': 'x' } } })))
    .thenRejected('invalid', '/metadata/annotations/a~1b~1c');
  given()
    .when(create(body({ metadata: { annotations: { note: 1 } } })))
    .thenRejected('invalid', '/metadata/annotations/note');
});

const owner = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  name: 'parent',
  uid: 'u',
  controller: true,
  blockOwnerDeletion: false,
};

test('an owner is named whole', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ metadata: { ownerReferences: [owner] } })))
    .then(created(widget({ metadata: { ...fresh, ownerReferences: [owner] } })));
  given()
    .when(create(body({ metadata: { ownerReferences: [] } })))
    .then(created(widget({ metadata: fresh })));
  given()
    .when(create(body({ metadata: { ownerReferences: [{ ...owner, controller: 'yes' }] } })))
    .thenRejected('invalid', '/metadata/ownerReferences/0/controller');
  given()
    .when(create(body({ metadata: { ownerReferences: {} } })))
    .thenRejected('invalid', '/metadata/ownerReferences');
});

test('finalizers are a set in the order they came', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ metadata: { finalizers: ['b', 'example.com/a', 'b'] } })))
    .then(created(widget({ metadata: { ...fresh, finalizers: ['b', 'example.com/a'] } })));
  given()
    .when(create(body({ metadata: { finalizers: [] } })))
    .then(created(widget({ metadata: fresh })));
  given()
    .when(create(body({ metadata: { finalizers: 'b' } })))
    .thenRejected('invalid', '/metadata/finalizers');
});

test('label keys of the platform and without a prefix are reserved from plugins alone', async (t) => {
  const given = givenFor(t);
  for (const key of ['team', `${domain}/x`, `sub.${domain}/x`]) {
    const labels = { [key]: 'x' };
    given()
      .when(create(body({ metadata: { labels } })), { origin: 'plugin' })
      .thenRejected('invalid', `/metadata/labels/${key.replace('/', '~1')}`);
    for (const origin of ['client', 'platform'] as const)
      given()
        .when(create(body({ metadata: { labels } })), { origin })
        .then(created(widget({ metadata: { ...fresh, labels } })));
  }
  for (const key of [
    'example.com/x',
    `not${domain}/x`,
    `${domain}/role-template`,
    `${domain}/hidden`,
    `rbac.authorization.${domain}/aggregate-to-guest`,
  ]) {
    given()
      .when(create(body({ metadata: { labels: { [key]: 'x' } } })), { origin: 'plugin' })
      .then(created(widget({ metadata: { ...fresh, labels: { [key]: 'x' } } })));
  }
});

const unknown = body({
  metadata: { odd: 1, ownerReferences: [{ ...owner, extra: 1 }] },
  spec: { title: 'One', odd: 1 },
  more: { a: 1 },
});
const known = created(widget({ metadata: { ...fresh, ownerReferences: [owner] } }));

test('unknown fields are refused, refused as malformed, dropped with a warning, or dropped, as asked', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(unknown))
    .thenRejected('invalid', '/metadata/odd', '/metadata/ownerReferences/0/extra', '/more', '/spec/odd');
  given()
    .when(create(unknown), { fieldValidation: 'Strict' })
    .thenRejected('bad-request')
    .thenDetail(/^strict decoding error: unknown field "metadata\.odd", unknown field /u);
  given()
    .when(create(unknown), { fieldValidation: 'Warn' })
    .then(known)
    .thenWarned(
      ...['metadata.odd', 'metadata.ownerReferences.0.extra', 'more', 'spec.odd'].map(
        (field) => `unknown field "${field}"`,
      ),
    );
  given().when(create(unknown), { fieldValidation: 'Ignore' }).then(known).thenWarned();
});

test('asking for strictness changes nothing where every field is known', async (t) => {
  const given = givenFor(t);
  for (const fieldValidation of ['Strict', 'Warn', 'Ignore', undefined] as const)
    given()
      .when(create(body()), { fieldValidation })
      .then(created(widget({ metadata: fresh })))
      .thenWarned();
});

test('dropping unknown fields mends nothing else', async (t) => {
  const given = givenFor(t);
  for (const fieldValidation of ['Strict', 'Warn', 'Ignore'] as const)
    given()
      .when(create(body({ spec: { size: 'x' } })), { fieldValidation })
      .thenRejected('invalid', '/spec/title', '/spec/size');
});

const open = widgetType({ schema: { type: 'object', additionalProperties: true } });

test("a type that accepts any member keeps them, after the platform's own", async (t) => {
  const given = givenFor(t);
  const more = { data: { metadata: { name: 'inner' } }, object: 1 };
  given()
    .when(create({ ...more, ...body(more) }), { type: open })
    .then(created(widget({ metadata: fresh, spec: { title: 'One' }, ...more })));
});

test('a member that would precede apiVersion in the stored text is refused', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ 0: { metadata: {} } })), { type: open })
    .thenRejected('invalid', '/0');
  given()
    .when(create(body({ '00': 1, '-1': 2 })), { type: open })
    .then(created(widget({ metadata: fresh, '00': 1, '-1': 2 })));
});

test('status is stored with the rest, unless the type has a status subresource', async (t) => {
  const given = givenFor(t);
  const sent = body({ status: { phase: 'Ready' } });
  given()
    .when(create(sent))
    .then(created(widget({ metadata: fresh, status: { phase: 'Ready' } })));
  given()
    .when(create(sent), { type: widgetsWithStatus })
    .then(created(widget({ metadata: fresh })));
});

test('a dropped status is not validated', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ status: { phase: 7 } })))
    .thenRejected('invalid', '/status/phase');
  given()
    .when(create(body({ status: { phase: 7 } })), { type: widgetsWithStatus })
    .then(created(widget({ metadata: fresh })));
});

test('a value that an index refuses is reported at the index', async (t) => {
  const given = givenFor(t);
  const long = 'x'.repeat(indexValueBytesMax);
  given()
    .when(create(body({ spec: { title: 'One', serial: long } })))
    .then(created(widget({ metadata: fresh, spec: { title: 'One', serial: long } })));
  given()
    .when(create(body({ spec: { title: 'One', serial: `${long}x` } })))
    .thenRejected('invalid', '/spec/serial');
  const throwing = widgetType({
    indexes: [
      {
        name: 'computed',
        indexFunc: () => {
          throw new Error("a plugin's mistake");
        },
      },
    ],
  });
  given().when(create(body()), { type: throwing }).thenRejected('invalid', '/computed');
});
