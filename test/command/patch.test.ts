import { test } from 'tap';

import { objectBytesMax } from '../../src/limits/objects.ts';
import { jsonDepthMax } from '../../src/limits/requests.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import {
  body,
  created,
  givenFor,
  jsonPatch,
  marked,
  merge,
  now,
  positionOf,
  removalOf,
  uid,
  updated,
  widget,
  widgetType,
  widgetsWithStatus,
} from '../support/given.ts';

test('a merge patch changes the named members', async (t) => {
  const given = givenFor(t);
  const stored = widget({ metadata: { labels: { a: '1', b: '2' } }, spec: { title: 'One', size: 1, tags: ['x'] } });
  given(created(stored))
    .when(merge({ metadata: { labels: { a: null, c: '3' } }, spec: { size: null, tags: ['y'] } }))
    .then(
      updated(
        widget({
          metadata: { version: 1, generation: 2, labels: { b: '2', c: '3' } },
          spec: { title: 'One', tags: ['y'] },
        }),
      ),
    );
});

test('a JSON patch changes the named members', async (t) => {
  const given = givenFor(t);
  given(created(widget({ spec: { title: 'One', tags: ['x'] } })))
    .when(
      jsonPatch([
        { op: 'test', path: '/spec/title', value: 'One' },
        { op: 'add', path: '/spec/tags/-', value: 'y' },
        { op: 'add', path: '/metadata/labels', value: { a: '1' } },
      ]),
    )
    .then(
      updated(
        widget({
          metadata: { version: 1, generation: 2, labels: { a: '1' } },
          spec: { title: 'One', tags: ['x', 'y'] },
        }),
      ),
    );
});

test('a patch that results in the stored object appends nothing', async (t) => {
  const given = givenFor(t);
  for (const command of [
    merge({}),
    merge({ spec: { title: 'One' } }),
    merge({ spec: { size: null } }),
    jsonPatch([]),
    jsonPatch([{ op: 'replace', path: '/spec/title', value: 'One' }]),
    jsonPatch([{ op: 'remove', path: '/metadata/creationTimestamp' }]),
  ]) {
    given(created()).when(command).thenNothing(widget());
  }
});

test('a patch of a missing object is refused', async (t) => {
  const given = givenFor(t);
  given().when(merge({})).thenRejected('not-found');
  given()
    .when(jsonPatch([{ op: 'nonsense' }]))
    .thenRejected('not-found');
});

test('server-managed metadata is restored after a patch', async (t) => {
  const given = givenFor(t);
  const managed = { creationTimestamp: null, generation: 77, deletionTimestamp: '1999-01-01T00:00:00Z' };
  given(created())
    .when(merge({ metadata: managed }))
    .thenNothing(widget());
  given(created())
    .when(
      jsonPatch([
        { op: 'add', path: '/metadata/deletionTimestamp', value: now },
        { op: 'replace', path: '/metadata/generation', value: 5 },
      ]),
    )
    .thenNothing(widget());
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  given(created(), marked(leaving))
    .when(jsonPatch([{ op: 'remove', path: '/metadata/deletionTimestamp' }]))
    .thenNothing(leaving);
});

test('a patch cannot change the identity of the object', async (t) => {
  const given = givenFor(t);
  for (const patch of [
    { metadata: { name: 'w2' } },
    { kind: 'Gadget' },
    { apiVersion: 'example.com/v2' },
    { metadata: null },
    { kind: null },
  ])
    given(created()).when(merge(patch)).thenRejected('bad-request');
  given(created())
    .when(jsonPatch([{ op: 'replace', path: '/metadata/name', value: 'w2' }]))
    .thenRejected('bad-request');
});

test('a version, position or uid in a patch is a precondition; a missing, null or empty one is none', async (t) => {
  const given = givenFor(t);
  const events = [created(), updated(widget({ metadata: { version: 1, labels: { a: '1' } } }))];
  const expected = updated(
    widget({ metadata: { version: 2, generation: 2, labels: { a: '1' } }, spec: { title: 'Two' } }),
  );
  for (const metadata of [
    {},
    { version: 1 },
    { resourceVersion: positionOf(1).toString() },
    { uid },
    { version: null, resourceVersion: null, uid: null },
  ]) {
    given(...events)
      .when(merge({ metadata, spec: { title: 'Two' } }))
      .then(expected);
  }
  for (const metadata of [
    { version: 0 },
    { version: 2 },
    { resourceVersion: positionOf(0).toString() },
    { uid: 'x' },
  ]) {
    given(...events)
      .when(merge({ metadata, spec: { title: 'Two' } }))
      .thenRejected('stale-version');
  }
  given(...events)
    .when(
      jsonPatch([
        { op: 'test', path: '/metadata/resourceVersion', value: positionOf(1).toString() },
        { op: 'replace', path: '/spec/title', value: 'Two' },
      ]),
    )
    .then(expected);
  given(...events)
    .when(
      jsonPatch([
        { op: 'remove', path: '/metadata/version' },
        { op: 'remove', path: '/metadata/resourceVersion' },
        { op: 'replace', path: '/spec/title', value: 'Two' },
      ]),
    )
    .then(expected);
});

test('a failed test and a missing path are invalid, a text that is no patch is malformed', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(jsonPatch([{ op: 'test', path: '/spec/title', value: 'Two' }]))
    .thenRejected('invalid', '')
    .thenDetail(/operation 0: test of "\/spec\/title" failed/u);
  given(created())
    .when(jsonPatch([{ op: 'remove', path: '/spec/size' }]))
    .thenRejected('invalid', '');
  given(created())
    .when(jsonPatch([{ op: 'remove', path: 'spec' }]))
    .thenRejected('bad-request');
  given(created())
    .when(
      jsonPatch([
        { op: 'test', path: '/spec/title', value: 'Two' },
        { op: 'nonsense', path: '' },
      ]),
    )
    .thenRejected('bad-request');
  given(created())
    .when(jsonPatch([{ op: 'remove', path: '' }]))
    .thenRejected('invalid', '');
  for (const value of [null, 'x', []] as readonly JsonValue[])
    given(created())
      .when(jsonPatch([{ op: 'replace', path: '', value }]))
      .thenRejected('invalid', '');
});

test('a malformed patch is refused before preconditions, an inapplicable one after them', async (t) => {
  const given = givenFor(t);
  const none = { preconditions: { ifMatch: [7] } };
  given(created())
    .when(jsonPatch([{ op: 'nonsense' }], none))
    .thenRejected('bad-request');
  given(created())
    .when(jsonPatch([{ op: 'test', path: '/spec/title', value: 'x' }], none))
    .thenRejected('precondition-failed');
  given(created())
    .when(merge({ metadata: { version: 4 }, spec: { title: '' } }, none))
    .thenRejected('precondition-failed');
  given(created())
    .when(merge({ metadata: { version: 4 }, spec: { title: '' } }))
    .thenRejected('stale-version');
  given(created())
    .when(merge({ spec: { title: '' } }))
    .thenRejected('invalid', '/spec/title');
  given(created())
    .when(merge({ kind: 'Gadget' }, none))
    .thenRejected('bad-request');
});

test('a merge patch that is no object makes no object', async (t) => {
  const given = givenFor(t);
  for (const document of ['x', 3, null, []] as readonly JsonValue[])
    given(created()).when(merge(document)).thenRejected('invalid', '');
});

test('a patch that removes the last finalizer under deletion removes the object, and none may be added', async (t) => {
  const given = givenFor(t);
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now, finalizers: ['f'] } });
  const { finalizers: _gone, ...bare } = leaving.metadata;
  const events = [created(widget({ metadata: { finalizers: ['f'] } })), marked(leaving)];
  for (const command of [
    merge({ metadata: { finalizers: null } }),
    merge({ metadata: { finalizers: [] } }),
    jsonPatch([{ op: 'remove', path: '/metadata/finalizers/0' }]),
  ]) {
    const freed = { ...leaving, metadata: { ...bare, version: 2 } };
    given(...events)
      .when(command)
      .then(updated(freed), removalOf(freed));
  }
  given(...events)
    .when(jsonPatch([{ op: 'add', path: '/metadata/finalizers/-', value: 'g' }]))
    .thenRejected('invalid', '/metadata/finalizers');
});

test('with a status subresource each path patches its own part', async (t) => {
  const given = givenFor(t);
  const stored = widget({ status: { phase: 'Ready' } });
  const type = widgetsWithStatus;
  const both = { spec: { title: 'Two' }, metadata: { labels: { a: '1' } }, status: { phase: 'Done' } };
  given(created(stored))
    .when(merge(both), { type })
    .then(
      updated(
        widget({
          metadata: { version: 1, generation: 2, labels: { a: '1' } },
          spec: { title: 'Two' },
          status: { phase: 'Ready' },
        }),
      ),
    );
  given(created(stored))
    .when(merge(both, { part: 'status' }), { type })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } })));
  given(created(stored))
    .when(merge({ status: null }, { part: 'status' }), { type })
    .then(updated(widget({ metadata: { version: 1 } })));
  given(created(stored))
    .when(merge({ status: null }), { type })
    .thenNothing(stored);
  given(created())
    .when(jsonPatch([{ op: 'add', path: '/status', value: { phase: 'Done' } }], { part: 'status' }), { type })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } })));
  given(created())
    .when(merge(both))
    .then(
      updated(
        widget({
          metadata: { version: 1, generation: 2, labels: { a: '1' } },
          spec: { title: 'Two' },
          status: { phase: 'Done' },
        }),
      ),
    );
});

test('unknown fields added by a patch are treated as requested', async (t) => {
  const given = givenFor(t);
  const patch = merge({ spec: { odd: 1, title: 'Two' } });
  const expected = updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'Two' } }));
  given(created()).when(patch).thenRejected('invalid', '/spec/odd');
  given(created()).when(patch, { fieldValidation: 'Strict' }).thenRejected('bad-request');
  given(created()).when(patch, { fieldValidation: 'Warn' }).then(expected).thenWarned('unknown field "spec.odd"');
  given(created()).when(patch, { fieldValidation: 'Ignore' }).then(expected).thenWarned();
});

const open = widgetType({ schema: { type: 'object', properties: { spec: true } } });

test('patches that grow out of bounds are refused before they have grown', async (t) => {
  const given = givenFor(t);
  const copies = Array.from({ length: 30 }, (_, index) => ({
    op: 'copy',
    from: '/spec',
    path: `/spec/${String(index)}`,
  }));
  given(created(widget({ spec: { title: 'x'.repeat(1_000) } })))
    .when(jsonPatch(copies), { type: open })
    .thenRejected('invalid', '')
    .thenDetail(new RegExp(`copies more than ${String(objectBytesMax)} bytes`, 'u'));
  const nesting = Array.from({ length: jsonDepthMax }, (_, index) => ({
    op: 'add',
    path: `/spec${'/a'.repeat(index + 1)}`,
    value: {},
  }));
  given(created())
    .when(jsonPatch(nesting), { type: open })
    .thenRejected('invalid', '')
    .thenDetail(/nests deeper/u);
});

test('members named as inherited ones reach nothing inherited', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(
      merge(
        JSON.parse(
          '{"__proto__":{"spec":{"title":"Two"}},"spec":{"__proto__":{"size":"x"}},' +
            '"metadata":{"__proto__":{"finalizers":["f"]}}}',
        ) as JsonValue,
      ),
    )
    .thenNothing(widget());
  given(created())
    .when(merge({ constructor: { prototype: { polluted: 1 } } }))
    .thenRejected('invalid', '/constructor');
  for (const path of ['/__proto__/polluted', '/spec/__proto__', '/constructor/prototype/polluted'])
    given(created())
      .when(jsonPatch([{ op: 'add', path, value: 1 }]))
      .thenRejected('invalid', '');
  given(created())
    .when(jsonPatch([{ op: 'copy', from: '/spec/constructor', path: '/spec/free' }]))
    .thenRejected('invalid', '');
});

test('a body as a merge patch results in the same object', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(merge(body({ metadata: { version: 0, uid } })))
    .thenNothing(widget());
});
