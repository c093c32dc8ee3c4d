import { test } from 'tap';

import {
  created,
  deleted,
  givenFor,
  fenced,
  marked,
  now,
  positionOf,
  remove,
  removed,
  uid,
  updated,
  widget,
  widgetType,
} from '../support/given.ts';

test('a DELETE marks the object, which stays', async (t) => {
  const given = givenFor(t);
  const stored = widget({
    metadata: { finalizers: ['f'], labels: { a: '1' } },
    spec: { title: 'One', serial: 's' },
    status: { phase: 'Ready' },
  });
  given(created(stored))
    .when(remove())
    .then(marked({ ...stored, metadata: { ...stored.metadata, version: 1, generation: 2, deletionTimestamp: now } }));
});

test('an object without finalizers is marked and removed at once', async (t) => {
  const given = givenFor(t);
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  given(created())
    .when(remove())
    .then(...removed(leaving));
  const fence = widget({ metadata: { version: 2, generation: 2 } });
  given(created(), updated(widget({ metadata: { version: 1, generation: 2 } })), fenced(fence))
    .when(remove())
    .then(...removed(widget({ metadata: { version: 3, generation: 3, deletionTimestamp: now } })));
});

test('a second DELETE changes nothing, least of all the timestamp', async (t) => {
  const given = givenFor(t);
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: '2026-01-01T12:00:00.000Z' } });
  given(created(), marked(leaving)).when(remove()).thenNothing(leaving);
});

test('a DELETE of a missing object is refused', async (t) => {
  const given = givenFor(t);
  given().when(remove()).thenRejected('not-found');
  given(created(), deleted(widget({ metadata: { version: 1 } })))
    .when(remove({ ifMatch: [0] }))
    .thenRejected('not-found');
  given(fenced()).when(remove()).thenRejected('not-found');
});

test('a DELETE may require the uid, the position and the versions', async (t) => {
  const given = givenFor(t);
  const expected = removed(widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } }));
  const position = positionOf(0).toString();
  for (const preconditions of [
    { uid },
    { resourceVersion: position },
    { uid, resourceVersion: position, ifMatch: [0] },
    { ifMatch: 'any' },
  ] as const)
    given(created())
      .when(remove(preconditions))
      .then(...expected);
  given(created())
    .when(remove({ uid: 'another' }))
    .thenRejected('stale-version')
    .thenDetail(/Precondition failed: UID in precondition: another/u);
  given(created())
    .when(remove({ resourceVersion: '1' }))
    .thenRejected('stale-version');
  given(created())
    .when(remove({ ifMatch: [1] }))
    .thenRejected('precondition-failed');
  given(created())
    .when(remove({ ifMatch: [1], uid: 'another', resourceVersion: '1' }))
    .thenRejected('precondition-failed');
});

test('preconditions hold for a second DELETE too', async (t) => {
  const given = givenFor(t);
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  given(created(), marked(leaving))
    .when(remove({ ifMatch: [0] }))
    .thenRejected('precondition-failed');
  given(created(), marked(leaving))
    .when(remove({ uid: 'another' }))
    .thenRejected('stale-version');
});

test('a marked object still holds its unique values, a removed one does not', async (t) => {
  const given = givenFor(t);
  const spec = { title: 'One', serial: 's' };
  const leaving = { version: 1, generation: 2, deletionTimestamp: now };
  given(created(widget({ metadata: { finalizers: ['f'] }, spec })))
    .when(remove())
    .then(marked(widget({ metadata: { ...leaving, finalizers: ['f'] }, spec })));
  given(created(widget({ spec })))
    .when(remove())
    .then(...removed(widget({ metadata: leaving, spec })));
});

test('an object that its type no longer accepts can still be deleted', async (t) => {
  const given = givenFor(t);
  const stored = widget({ spec: { title: 'One', serial: 's', free: 'x'.repeat(2_000) } });
  const leaving = widget({
    metadata: { version: 1, generation: 2, deletionTimestamp: now },
    spec: stored['spec'] as never,
  });
  const expected = removed(leaving);
  const stricter = { schema: { type: 'object', properties: { spec: { type: 'object', required: ['colour'] } } } };
  given(created(stored))
    .when(remove(), { type: widgetType(stricter) })
    .then(...expected);
  // The index that takes it still holds its value; the one that cannot holds nothing.
  given(created(stored))
    .when(remove(), {
      type: widgetType({
        indexes: [
          { name: 'spec.serial', unique: true },
          { name: 'spec.free', unique: true },
        ],
      }),
    })
    .then(...expected);
});

const leavingMetadata = { version: 1, generation: 2, deletionTimestamp: now };
const leavingWith = (...finalizers: readonly string[]) =>
  marked(widget({ metadata: { ...leavingMetadata, finalizers } }));
const removedAtOnce = removed(widget({ metadata: leavingMetadata }));

test("a propagation policy becomes Kubernetes' finalizer for it", async (t) => {
  const given = givenFor(t);
  given(created())
    .when(remove({}, 'w1', 'Background'))
    .then(...removedAtOnce);
  given(created())
    .when(remove({}, 'w1', 'Orphan'))
    .then(leavingWith('orphan'));
  given(created())
    .when(remove({}, 'w1', 'Foreground'))
    .then(leavingWith('foregroundDeletion'));
});

test('a policy replaces the one of the finalizers, and keeps all others', async (t) => {
  const given = givenFor(t);
  const held = (...finalizers: readonly string[]) => created(widget({ metadata: { finalizers } }));
  given(held('f', 'orphan'))
    .when(remove({}, 'w1', 'Foreground'))
    .then(leavingWith('f', 'foregroundDeletion'));
  given(held('foregroundDeletion', 'f'))
    .when(remove({}, 'w1', 'Orphan'))
    .then(leavingWith('f', 'orphan'));
  given(held('orphan', 'foregroundDeletion'))
    .when(remove({}, 'w1', 'Background'))
    .then(...removedAtOnce);
  given(held('orphan', 'f'))
    .when(remove({}, 'w1', 'Orphan'))
    .then(leavingWith('orphan', 'f'));
});

test("without a policy an object's own finalizers decide", async (t) => {
  const given = givenFor(t);
  given(created(widget({ metadata: { finalizers: ['orphan', 'f'] } })))
    .when(remove())
    .then(leavingWith('orphan', 'f'));
});

test('a policy of a second DELETE has no effect', async (t) => {
  const given = givenFor(t);
  const leaving = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  given(created(), marked(leaving))
    .when(remove({}, 'w1', 'Foreground'))
    .thenNothing(leaving);
});

test('a finalizer of the platform is added once', async (t) => {
  const given = givenFor(t);
  const strategy = {
    complete: () => {
      throw new Error('a mark completes nothing');
    },
    heldBy: (domain: string) => [`${domain}/tidied`],
  };
  given(created()).when(remove(), { strategy }).then(leavingWith('svc.run/tidied'));
  given(created(widget({ metadata: { finalizers: ['svc.run/tidied', 'f'] } })))
    .when(remove({}, 'w1', 'Foreground'), { strategy })
    .then(leavingWith('svc.run/tidied', 'f', 'foregroundDeletion'));
});
