import { test } from 'tap';

import {
  body,
  collect,
  create,
  created,
  deleted,
  drawnUid,
  givenFor,
  fenced,
  marked,
  now,
  widget,
} from '../support/given.ts';

const leaving = widget({
  metadata: { version: 1, generation: 2, deletionTimestamp: now },
  spec: { title: 'One', serial: 's' },
});
const events = [created(widget({ spec: { title: 'One', serial: 's' } })), marked(leaving)];

test('a marked object without finalizers is removed, and holds no values', async (t) => {
  const given = givenFor(t);
  given(...events)
    .when(collect())
    .then(deleted({ ...leaving, metadata: { ...leaving.metadata, version: 2 } }));
});

test('an object without a mark, or with a finalizer, stays', async (t) => {
  const given = givenFor(t);
  given(created()).when(collect()).thenRejected('precondition-failed');
  const held = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now, finalizers: ['f'] } });
  given(created(), marked(held)).when(collect()).thenRejected('precondition-failed');
});

test('only the object that was marked is removed, not its successor', async (t) => {
  const given = givenFor(t);
  given(...events)
    .when(collect('another'))
    .thenRejected('not-found');
  given().when(collect()).thenRejected('not-found');
  given(...events, deleted({ ...leaving, metadata: { ...leaving.metadata, version: 2 } }))
    .when(collect())
    .thenRejected('not-found');
});

test('a fence keeps an object unchanged, marked or not', async (t) => {
  const given = givenFor(t);
  const fence = { ...leaving, metadata: { ...leaving.metadata, version: 2 } };
  given(...events, fenced(fence))
    .when(collect())
    .then(deleted({ ...leaving, metadata: { ...leaving.metadata, version: 3 } }));
});

test('a removed name is free for another object', async (t) => {
  const given = givenFor(t);
  given(...events, deleted({ ...leaving, metadata: { ...leaving.metadata, version: 2 } }))
    .when(create(body()))
    .then(created(widget({ metadata: { uid: drawnUid, creationTimestamp: now, version: 3 } })));
  given(...events)
    .when(create(body()))
    .thenRejected('already-exists');
});
