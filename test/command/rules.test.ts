import { test } from 'tap';

import {
  body,
  create,
  created,
  drawnUid,
  givenFor,
  merge,
  now,
  put,
  updated,
  widget,
  widgetType,
} from '../support/given.ts';

const title = { type: 'string', maxLength: 20 };
const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['title'],
      properties: { title, size: { type: 'integer', default: 3 }, tags: { type: 'array', maxItems: 3, items: title } },
      'x-kubernetes-validations': [
        { rule: 'self.size < 10', message: 'size must be below 10', fieldPath: '.size' },
        { rule: 'self.title == oldSelf.title', message: 'title cannot be changed', fieldPath: '.title' },
        { rule: '!has(self.tags) || self.tags.all(t, t != "bad")', message: 'no bad tags' },
      ],
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
  'x-kubernetes-validations': [
    { rule: '!has(self.status) || self.status.n < 100', message: 'n must be below 100' },
    { rule: 'self.metadata.name != "forbidden"', message: 'the name is taken' },
  ],
};
const type = widgetType({ schema });
const typeWithStatus = widgetType({ schema, statusSubresource: true });

test('a write that violates a rule is invalid, and a default is there before rules run', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body()), { type })
    .then(created(widget({ metadata: { uid: drawnUid, creationTimestamp: now }, spec: { title: 'One', size: 3 } })));
  given()
    .when(create(body({ spec: { title: 'One', size: 10, tags: ['bad'] } })), { type })
    .thenRejected('invalid', '/spec', '/spec/size')
    .thenDetail(/spec\.size: size must be below 10, spec: no bad tags$/u);
  given()
    .when(create(body({ metadata: { name: 'forbidden' } })), { type })
    .thenRejected('invalid', '')
    .thenDetail('Widget.example.com "forbidden" is invalid: the name is taken');
  given(created())
    .when(merge({ spec: { title: 'Two' } }), { type })
    .thenRejected('invalid', '/spec/title');
});

test('rules run only once the schema is satisfied', async (t) => {
  const given = givenFor(t);
  given()
    .when(create(body({ spec: { size: 10 } })), { type })
    .thenRejected('invalid', '/spec/title');
});

test('an update may keep an old violation in a value that it leaves as it is', async (t) => {
  const given = givenFor(t);
  const spec = { title: 'One', size: 10 };
  given(created(widget({ spec })))
    .when(merge({ metadata: { labels: { a: '1' } } }), { type })
    .then(updated(widget({ metadata: { version: 1, labels: { a: '1' } }, spec })));
  given(created(widget({ spec })))
    .when(put(body({ spec, status: { n: 1 } })), { type })
    .then(updated(widget({ metadata: { version: 1 }, spec, status: { n: 1 } })));
  given(created(widget({ spec })))
    .when(merge({ spec: { tags: ['a'] } }), { type })
    .thenRejected('invalid', '/spec/size');
});

test('a write of the status is refused for violations of the status alone', async (t) => {
  const given = givenFor(t);
  const spec = { title: 'too long for its schema', size: 10, tags: ['bad'] };
  const stored = created(widget({ spec }));
  const part = 'status';
  given(stored)
    .when(merge({ status: { n: 1 } }, { part }), { type: typeWithStatus })
    .then(updated(widget({ metadata: { version: 1 }, spec, status: { n: 1 } })));
  given(created(widget({ spec: { title: 'One', size: 10 } })))
    .when(merge({ status: { n: 100 } }, { part }), { type: typeWithStatus })
    .thenRejected('invalid', '');
});

test('a stored object outside of the bounds of its schema has no rules until it is corrected', async (t) => {
  const given = givenFor(t);
  const many = { title: 'One', size: 3, tags: ['bad', 'b', 'c', 'd'] };
  given(created(widget({ spec: many })))
    .when(merge({ spec: { size: 4 } }), { type })
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { ...many, size: 4 } })));
  given(created(widget({ spec: many })))
    .when(merge({ spec: { tags: ['bad'] } }), { type })
    .thenRejected('invalid', '/spec');
});
