import { test } from 'tap';

import type { JsonValue } from '../../src/resource/object/object.ts';
import {
  body,
  create,
  created,
  deleted,
  domain,
  givenFor,
  fenced,
  marked,
  now,
  positionOf,
  put,
  removalOf,
  uid,
  updated,
  widget,
  widgetType,
  widgetsWithStatus,
} from '../support/given.ts';

const two = { spec: { title: 'Two' } };

test("a PUT replaces the client's members and keeps the server's", async (t) => {
  const given = givenFor(t);
  const before = widget({
    metadata: {
      generateName: 'w',
      labels: { a: '1' },
      annotations: { n: 'x' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }],
    },
    status: { phase: 'Ready' },
  });
  given(created(before))
    .when(
      put(
        body({
          ...two,
          metadata: { labels: { b: '2' }, generation: 99, creationTimestamp: 'x', generateName: 'other' },
        }),
      ),
    )
    .then(updated(widget({ metadata: { generateName: 'w', version: 1, generation: 2, labels: { b: '2' } }, ...two })));
});

test('a PUT of a missing object is refused, with any body', async (t) => {
  const given = givenFor(t);
  given().when(put(body())).thenRejected('not-found').thenDetail('widgets.example.com "w1" not found');
  given()
    .when(put({ kind: 'Gadget' }))
    .thenRejected('not-found');
  given(created(), deleted(widget({ metadata: { version: 1 } })))
    .when(put(body()))
    .thenRejected('not-found');
  given(fenced())
    .when(put(body(), { preconditions: { ifMatch: [7] } }))
    .thenRejected('not-found');
});

test('a PUT carries the name, apiVersion and kind of its path', async (t) => {
  const given = givenFor(t);
  for (const wrong of [
    { kind: 'Gadget' },
    { apiVersion: 'example.com/v2' },
    { metadata: { name: 'w2' } },
    { metadata: { name: '' } },
    { metadata: { name: null, generateName: 'w' } },
    { metadata: [] },
    { metadata: null },
  ]) {
    given(created())
      .when(put(body(wrong)))
      .thenRejected('bad-request');
  }
  const { kind: _kind, ...without } = body();
  given(created())
    .when(put(without))
    .thenRejected('bad-request')
    .thenDetail(/has no kind/u);
});

test('a PUT of the stored object appends nothing, in any order of its members', async (t) => {
  const given = givenFor(t);
  const stored = widget({
    metadata: { labels: { a: '1', b: '2' }, finalizers: ['f'] },
    spec: { title: 'One', size: 1 },
  });
  given(created(stored))
    .when(
      put({
        spec: { size: 1, title: 'One' },
        metadata: { labels: { b: '2', a: '1' }, finalizers: ['f', 'f'], name: 'w1', version: 0, generation: 12 },
        kind: 'Widget',
        apiVersion: 'example.com/v1',
      }),
    )
    .thenNothing(stored);
  given(created())
    .when(put(body({ metadata: { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] } })))
    .thenNothing(widget());
});

test('the order of elements counts', async (t) => {
  const given = givenFor(t);
  const stored = widget({ spec: { title: 'One', tags: ['a', 'b'] } });
  given(created(stored))
    .when(put(body({ spec: { title: 'One', tags: ['b', 'a'] } })))
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'One', tags: ['b', 'a'] } })));
});

test('generation increases with the desired state, not with metadata or status', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(put(body({ metadata: { labels: { a: '1' } } })))
    .then(updated(widget({ metadata: { version: 1, labels: { a: '1' } } })));
  given(created())
    .when(put(body({ status: { phase: 'Ready' } })))
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Ready' } })));
  given(created())
    .when(put(body(two)))
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, ...two })));
});

test('a PUT without a version is unconditional; null and empty are none', async (t) => {
  const given = givenFor(t);
  const events = [created(), updated(widget({ metadata: { version: 1 }, spec: { title: 'Other' } }))];
  const expected = updated(widget({ metadata: { version: 2, generation: 2 }, ...two }));
  for (const metadata of [{}, { version: null, resourceVersion: null, uid: null }, { resourceVersion: '', uid: '' }])
    given(...events)
      .when(put(body({ ...two, metadata })))
      .then(expected);
});

test('a PUT with the current version, position or uid succeeds, and with any other one does not', async (t) => {
  const given = givenFor(t);
  const events = [created(), updated(widget({ metadata: { version: 1 }, spec: { title: 'Other' } }))];
  const current = { version: 1, resourceVersion: positionOf(1).toString(), uid };
  given(...events)
    .when(put(body({ ...two, metadata: current })))
    .then(updated(widget({ metadata: { version: 2, generation: 2 }, ...two })));
  for (const stale of [
    { version: 0 },
    { version: 2 },
    { resourceVersion: positionOf(0).toString() },
    { resourceVersion: '1' },
    { version: 1, resourceVersion: '0' },
    { version: 0, resourceVersion: positionOf(1).toString() },
  ]) {
    given(...events)
      .when(put(body({ ...two, metadata: stale })))
      .thenRejected('stale-version')
      .thenDetail(/"w1": the object has been modified; please apply your changes to the latest version/u);
  }
  given(...events)
    .when(put(body({ ...two, metadata: { uid: 'another' } })))
    .thenRejected('stale-version')
    .thenDetail(/UID in precondition: another, UID in object/u);
});

test('an unparsable version is refused, never ignored, on either path', async (t) => {
  const given = givenFor(t);
  for (const version of ['0', -1, 0.5, 1e300, {}]) {
    given(created())
      .when(put(body({ metadata: { version } })))
      .thenRejected('invalid', '/metadata/version');
    given(created())
      .when(put(body({ metadata: { version } }), { part: 'status' }), { type: widgetsWithStatus })
      .thenRejected('invalid', '/metadata/version');
  }
  given(created())
    .when(put(body({ metadata: { resourceVersion: 1000 } })))
    .thenRejected('invalid', '/metadata/resourceVersion');
});

test('an old copy cannot overwrite the object that has its name now', async (t) => {
  const given = givenFor(t);
  const again = widget({ metadata: { version: 2, uid: 'new' } });
  const events = [created(), deleted(widget({ metadata: { version: 1 } })), created(again)];
  given(...events)
    .when(put(body({ ...two, metadata: { version: 0 } })))
    .thenRejected('stale-version');
  given(...events)
    .when(put(body({ ...two, metadata: { uid } })))
    .thenRejected('stale-version');
});

test('400 comes before 412, 412 before 409, 409 before 422', async (t) => {
  const given = givenFor(t);
  const none = { preconditions: { ifMatch: [7] } };
  given(created())
    .when(put(body({ kind: 'Gadget', metadata: { version: 9 } }), none))
    .thenRejected('bad-request');
  given(created())
    .when(put(body({ odd: 1 }), none), { fieldValidation: 'Strict' })
    .thenRejected('bad-request');
  given(created())
    .when(put(body({ spec: {}, metadata: { version: 9 } }), none))
    .thenRejected('precondition-failed');
  given(created())
    .when(put(body({ spec: {}, metadata: { version: 9 } })))
    .thenRejected('stale-version');
  given(created())
    .when(put(body({ spec: {}, metadata: { uid: 'x' } })))
    .thenRejected('stale-version');
  given(created())
    .when(put(body({ spec: {}, metadata: { version: 0 } })))
    .thenRejected('invalid', '/spec/title');
  given(created()).when(put(body(), none)).thenRejected('precondition-failed');
});

test('If-Match accepts any of its versions, and a star any object', async (t) => {
  const given = givenFor(t);
  for (const ifMatch of [[0], [7, 0], 'any'] as const)
    given(created())
      .when(put(body(two), { preconditions: { ifMatch } }))
      .then(updated(widget({ metadata: { version: 1, generation: 2 }, ...two })));
  given(created())
    .when(put(body(two), { preconditions: { ifMatch: [] } }))
    .thenRejected('precondition-failed');
});

const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now, finalizers: ['a', 'b'] } });
const marking = [created(widget({ metadata: { finalizers: ['a', 'b'] } })), marked(leaving)];

test('after the mark finalizers are removed and not added', async (t) => {
  const given = givenFor(t);
  given(...marking)
    .when(put(body({ metadata: { finalizers: ['b'] } })))
    .then(updated(widget({ metadata: { ...leaving.metadata, version: 2, finalizers: ['b'] } })));
  const { finalizers: _all, ...bare } = leaving.metadata;
  const freed = { ...leaving, metadata: { ...bare, version: 2 } };
  given(...marking)
    .when(put(body()))
    .then(updated(freed), removalOf(freed));
  given(...marking)
    .when(put(body({ metadata: { finalizers: ['b', 'a'] } })))
    .then(updated(widget({ metadata: { ...leaving.metadata, version: 2, finalizers: ['b', 'a'] } })));
  given(...marking)
    .when(put(body({ metadata: { finalizers: ['a', 'c', 'b', 'd'] } })))
    .thenRejected('invalid', '/metadata/finalizers')
    .thenDetail(/no new finalizers can be added if the object is being deleted, found new finalizers \["c","d"\]/u);
});

test('after the mark other members may still change, and the mark stays', async (t) => {
  const given = givenFor(t);
  for (const deletionTimestamp of [null, '1999-01-01T00:00:00Z', 7]) {
    given(...marking)
      .when(put(body({ ...two, metadata: { deletionTimestamp, labels: { a: '1' }, finalizers: ['a', 'b'] } })))
      .then(
        updated(widget({ metadata: { ...leaving.metadata, version: 2, generation: 3, labels: { a: '1' } }, ...two })),
      );
  }
});

test('a change of a marked object without finalizers removes it', async (t) => {
  const given = givenFor(t);
  const unheld = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  const changed = widget({ metadata: { version: 2, generation: 3, deletionTimestamp: now }, ...two });
  given(created(), marked(unheld))
    .when(put(body(two)))
    .then(updated(changed), removalOf(changed));
  given(created(), marked(unheld)).when(put(body())).thenNothing(unheld);
});

test('before deletion finalizers come and go', async (t) => {
  const given = givenFor(t);
  given(created(widget({ metadata: { finalizers: ['a'] } })))
    .when(put(body({ metadata: { finalizers: ['b'] } })))
    .then(updated(widget({ metadata: { version: 1, finalizers: ['b'] } })));
});

const ready = widget({ status: { phase: 'Ready' } });

test('with a status subresource the main path leaves status alone', async (t) => {
  const given = givenFor(t);
  for (const status of [{ phase: 'Broken' }, { phase: 7 }, null] as const) {
    given(created(ready))
      .when(put(body({ ...two, status })), { type: widgetsWithStatus })
      .then(updated(widget({ metadata: { version: 1, generation: 2 }, ...two, status: { phase: 'Ready' } })));
    given(created())
      .when(put(body({ status })), { type: widgetsWithStatus })
      .thenNothing(widget());
  }
});

test('the status path writes status and nothing else', async (t) => {
  const given = givenFor(t);
  const aim = { part: 'status' } as const;
  const sent = body({
    spec: { title: '' },
    odd: 1,
    metadata: { labels: { '-': 1 }, finalizers: 'x' },
    status: { phase: 'Done' },
  });
  given(created(ready))
    .when(put(sent, aim), { type: widgetsWithStatus })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } })));
  given(created(ready))
    .when(put(body(two), aim), { type: widgetsWithStatus })
    .then(updated(widget({ metadata: { version: 1 } })));
  given(created(ready))
    .when(put(body({ ...two, status: { phase: 'Ready' } }), aim), { type: widgetsWithStatus })
    .thenNothing(ready);
  given(created())
    .when(put(body({ status: { phase: 'Done' } }), aim), { type: widgetsWithStatus })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } })));
});

test("the status path judges status, preconditions and the path's identity", async (t) => {
  const given = givenFor(t);
  const aim = { part: 'status' } as const;
  const type = widgetsWithStatus;
  given(created(ready))
    .when(put(body({ status: { phase: 7 } }), aim), { type })
    .thenRejected('invalid', '/status/phase');
  given(created(ready))
    .when(put(body({ status: null }), aim), { type })
    .thenRejected('invalid', '/status');
  given(created(ready))
    .when(put(body({ metadata: { version: 4 }, status: {} }), aim), { type })
    .thenRejected('stale-version');
  given(created(ready))
    .when(put(body({ metadata: { name: 'w2' }, status: {} }), aim), { type })
    .thenRejected('bad-request');
  given()
    .when(put(body({ status: {} }), aim), { type })
    .thenRejected('not-found');
  given(created(ready))
    .when(put(body({ status: {} }), { ...aim, preconditions: { ifMatch: [3] } }), { type })
    .thenRejected('precondition-failed');
});

test('unknown fields of a status are treated as requested', async (t) => {
  const given = givenFor(t);
  const sent = body({ status: { phase: 'Done', odd: 1 } });
  const aim = { part: 'status' } as const;
  const type = widgetsWithStatus;
  const done = updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } }));
  given(created(ready)).when(put(sent, aim), { type }).thenRejected('invalid', '/status/odd');
  given(created(ready)).when(put(sent, aim), { type, fieldValidation: 'Strict' }).thenRejected('bad-request');
  given(created(ready))
    .when(put(sent, aim), { type, fieldValidation: 'Warn' })
    .then(done)
    .thenWarned('unknown field "status.odd"');
  given(created(ready)).when(put(sent, aim), { type, fieldValidation: 'Ignore' }).then(done);
});

test("a plugin may keep people's reserved labels, and not change or add any", async (t) => {
  const given = givenFor(t);
  const labelled = widget({ metadata: { labels: { team: 'red', [`${domain}/x`]: '1' } } });
  const keep = { team: 'red', [`${domain}/x`]: '1' };
  const origin = 'plugin';
  given(created(labelled))
    .when(put(body({ ...two, metadata: { labels: keep } })), { origin })
    .then(updated(widget({ metadata: { version: 1, generation: 2, labels: keep }, ...two })));
  given(created(labelled))
    .when(put(body({ metadata: { labels: { team: 'red' } } })), { origin })
    .then(updated(widget({ metadata: { version: 1, labels: { team: 'red' } } })));
  given(created(labelled))
    .when(put(body({ metadata: { labels: { ...keep, team: 'blue' } } })), { origin })
    .thenRejected('invalid', '/metadata/labels/team');
  given(created(labelled))
    .when(put(body({ metadata: { labels: { ...keep, more: '1' } } })), { origin })
    .thenRejected('invalid', '/metadata/labels/more');
  given(created(labelled))
    .when(put(body({ status: { phase: 'Done' } }), { part: 'status' }), { origin, type: widgetsWithStatus })
    .then(updated(widget({ metadata: { version: 1, labels: keep }, status: { phase: 'Done' } })));
});

const stricter = widgetType({
  schema: { type: 'object', properties: { spec: { type: 'object', required: ['colour'] }, status: true } },
});

test('stored members are not validated again by a later schema', async (t) => {
  const given = givenFor(t);
  given(created()).when(put(body()), { type: stricter }).thenNothing(widget());
  given(created(widget({ metadata: { finalizers: ['f'] } })))
    .when(put(body()), { type: stricter })
    .then(updated(widget({ metadata: { version: 1 } })));
  given(created())
    .when(put(body(two)), { type: stricter })
    .thenRejected('invalid', '/spec/colour');
});

const overlong = widgetType({ indexes: [{ name: 'spec.free', unique: true }] });
const free = { title: 'One', free: 'x'.repeat(2_000) };

test('a finalizer can be removed from an object that an index no longer accepts', async (t) => {
  const given = givenFor(t);
  const stored = widget({ metadata: { finalizers: ['f'] }, spec: free });
  const going = widget({
    metadata: { version: 1, generation: 2, deletionTimestamp: now, finalizers: ['f'] },
    spec: free,
  });
  const { finalizers: _gone, ...bare } = going.metadata;
  const freed = { ...going, metadata: { ...bare, version: 2 } };
  given(created(stored), marked(going))
    .when(put(body({ spec: free })), { type: overlong })
    .then({ type: 'ObjectUpdated', object: freed, values: [] }, removalOf(freed));
  given(created(stored))
    .when(put(body({ spec: free })), { type: overlong })
    .thenRejected('invalid', '/spec/free');
});

test('fields unknown to the schema are refused, or dropped as asked', async (t) => {
  const given = givenFor(t);
  const sent = body({ spec: { title: 'One', odd: 1 }, metadata: { odd: 1 } });
  given(created()).when(put(sent)).thenRejected('invalid', '/metadata/odd', '/spec/odd');
  given(created()).when(put(sent), { fieldValidation: 'Strict' }).thenRejected('bad-request');
  given(created())
    .when(put(sent), { fieldValidation: 'Warn' })
    .thenNothing(widget())
    .thenWarned('unknown field "metadata.odd"', 'unknown field "spec.odd"');
  given(created()).when(put(sent), { fieldValidation: 'Ignore' }).thenNothing(widget()).thenWarned();
});

test('unique values follow the object: each event lists all values held after it', async (t) => {
  const given = givenFor(t);
  const first = widget({ spec: { title: 'One', serial: 's1' } });
  given(created(first))
    .when(put(body({ spec: { title: 'One', serial: 's2' } })))
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'One', serial: 's2' } })));
  given(created(first))
    .when(put(body()))
    .then(updated(widget({ metadata: { version: 1, generation: 2 } })));
  given(created(first))
    .when(put(body({ metadata: { labels: { a: '1' } }, spec: { title: 'One', serial: 's1' } })))
    .then(updated(widget({ metadata: { version: 1, labels: { a: '1' } }, spec: { title: 'One', serial: 's1' } })));
});

test('members named as inherited ones are unknown members like any other', async (t) => {
  const given = givenFor(t);
  const sent = JSON.parse(
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w1","__proto__":{"finalizers":["x"]}},' +
      '"spec":{"title":"One","constructor":1,"__proto__":{"size":"x"}}}',
  ) as { readonly [member: string]: JsonValue };
  given(created())
    .when(put(sent))
    .thenRejected('invalid', '/metadata/__proto__', '/spec/constructor', '/spec/__proto__');
  given().when(create(sent)).thenRejected('invalid', '/metadata/__proto__', '/spec/constructor', '/spec/__proto__');
});
