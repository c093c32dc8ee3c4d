import { test } from 'tap';

import type { JsonObject } from '../../src/resource/object/object.ts';
import { body, created, givenFor, merge, put, updated, widget, widgetType } from '../support/given.ts';

const schema = {
  type: 'object',
  required: ['spec'],
  minProperties: 1,
  properties: {
    spec: {
      type: 'object',
      required: ['title', 'owner'],
      properties: {
        title: { type: 'string', maxLength: 5 },
        size: { type: 'integer', maximum: 10 },
        tags: { type: 'array', items: { type: 'string', maxLength: 3 } },
        many: { type: 'array', items: { type: 'integer' } },
      },
    },
    status: { type: 'object', properties: { phase: { enum: ['New', 'Old'] } } },
  },
};
const type = widgetType({ schema });
const typeWithStatus = widgetType({ schema, statusSubresource: true });

/** Stored under a less strict schema: /spec/title and /spec/tags/0 are too long, and /spec/owner is missing. */
const old: JsonObject = { title: 'too long', size: 1, tags: ['long tag', 'a'] };
const stored = widget({ spec: old });

test('an update may keep the faults that it leaves as they are', async (t) => {
  const given = givenFor(t);
  given(created(stored))
    .when(put(body({ spec: { ...old, size: 2 } })), { type })
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { ...old, size: 2 } })));
  given(created(stored))
    .when(merge({ spec: { tags: ['long tag', 'b', 'c'] } }), { type })
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { ...old, tags: ['long tag', 'b', 'c'] } })));
  given(created(stored))
    .when(put(body({ spec: old })), { type })
    .thenNothing(stored);
});

test('an update brings in no fault: not another one, nor the same one by another value or elsewhere', async (t) => {
  const given = givenFor(t);
  const table: readonly (readonly [JsonObject, string])[] = [
    [{ size: 11 }, '/spec/size'],
    [{ title: 'too long too' }, '/spec/title'],
    [{ tags: ['a', 'long tag'] }, '/spec/tags/1'],
    [{ tags: ['long tag!', 'a'] }, '/spec/tags/0'],
  ];
  for (const [change, pointer] of table)
    given(created(stored))
      .when(merge({ spec: change }), { type })
      .thenRejected('invalid', pointer);
  given(created(widget({ spec: { ...old, owner: 'me' } })))
    .when(merge({ spec: { owner: null } }), { type })
    .thenRejected('invalid', '/spec/owner');
});

test('a fault that was corrected does not come back', async (t) => {
  const given = givenFor(t);
  given(created(stored), updated(widget({ metadata: { version: 1 }, spec: { title: 'One', owner: 'me' } })))
    .when(merge({ spec: { title: 'too long' } }), { type })
    .thenRejected('invalid', '/spec/title');
});

test('more faults than one answer lists hide no new one', async (t) => {
  const given = givenFor(t);
  const many = Array.from({ length: 200 }, () => 'x');
  const faulty = widget({ spec: { ...old, many } });
  given(created(faulty))
    .when(merge({ spec: { many: [...many, 'y'] } }), { type })
    .thenRejected('invalid', '/spec/many/200');
});

test('of a very large object every fault counts as new', async (t) => {
  const given = givenFor(t);
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  const faulty = widget({ spec: { ...old, many } });
  given(created(faulty))
    .when(merge({ spec: { size: 2 } }), { type })
    .thenRejected('invalid', '/spec/owner');
});

test('a write of the status is refused for faults of the status alone', async (t) => {
  const given = givenFor(t);
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  for (const spec of [old, { ...old, many }]) {
    given(created(widget({ spec })))
      .when(merge({ status: { phase: 'New' } }, { part: 'status' }), { type: typeWithStatus })
      .then(updated(widget({ metadata: { version: 1 }, spec, status: { phase: 'New' } })));
    given(created(widget({ spec })))
      .when(merge({ status: { phase: 'Newer' } }, { part: 'status' }), { type: typeWithStatus })
      .thenRejected('invalid', '/status/phase');
  }
  const elder = { phase: 'Elder', more: 1 };
  given(created(widget({ spec: old, status: elder })))
    .when(merge({ status: { more: 2 } }, { part: 'status' }), { type: typeWithStatus })
    .then(updated(widget({ metadata: { version: 1 }, spec: old, status: { ...elder, more: 2 } })));
});

test('a fault of the whole object does not refuse a write of the status, unless the write brings it in', async (t) => {
  const given = givenFor(t);
  const strict = widgetType({ schema: { ...schema, not: { required: ['more'] } }, statusSubresource: true });
  const more = widget({ spec: { title: 'One', owner: 'me' }, more: 1 });
  given(created(more))
    .when(merge({ status: { phase: 'New' } }, { part: 'status' }), { type: strict })
    .then(updated({ ...more, metadata: { ...more.metadata, version: 1 }, status: { phase: 'New' } }));
  const paired = widgetType({
    schema: { ...schema, not: { required: ['status'], properties: { status: { required: ['more'] } } } },
    statusSubresource: true,
  });
  given(created(widget({ spec: { title: 'One', owner: 'me' } })))
    .when(merge({ status: { phase: 'New', more: 1 } }, { part: 'status' }), { type: paired })
    .thenRejected('invalid', '');
});
