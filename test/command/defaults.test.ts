import { test } from 'tap';

import { objectBytesMax } from '../../src/limits/objects.ts';
import {
  body,
  create,
  created,
  drawnUid,
  givenFor,
  jsonPatch,
  merge,
  now,
  put,
  updated,
  widget,
  widgetType,
} from '../support/given.ts';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['title', 'size'],
      additionalProperties: false,
      properties: {
        title: { type: 'string' },
        size: { type: 'integer', default: 3 },
        parts: { type: 'array', items: { type: 'object', properties: { text: { default: 'x'.repeat(1_000) } } } },
      },
    },
    status: { type: 'object', default: {}, properties: { phase: { type: 'string', default: 'New' } } },
  },
};
const type = widgetType({ schema });
const typeWithStatus = widgetType({ schema, statusSubresource: true });
const spec = { title: 'One', size: 3 };
const status = { phase: 'New' };
const defaulted = widget({ spec, status });

test('a create stores the defaults, and a required member may come from one', async (t) => {
  const given = givenFor(t);
  const metadata = { uid: drawnUid, creationTimestamp: now };
  given()
    .when(create(body()), { type })
    .then(created(widget({ metadata, spec, status })));
  given()
    .when(create(body()), { type: typeWithStatus })
    .then(created(widget({ metadata, spec })));
  given()
    .when(create(body({ spec: { title: 'One', more: 1 } })), { type, fieldValidation: 'Ignore' })
    .then(created(widget({ metadata, spec, status })));
});

test('an update fills in what it leaves out', async (t) => {
  const given = givenFor(t);
  const next = { metadata: { version: 1, generation: 2 }, spec: { title: 'Two', size: 3 }, status };
  const before = created(widget({ spec: { title: 'One', size: 9 }, status }));
  given(before)
    .when(put(body({ spec: { title: 'Two' } })), { type })
    .then(updated(widget(next)));
  given(before)
    .when(merge({ spec: { title: 'Two', size: null } }), { type })
    .then(updated(widget(next)));
});

test('a write of the status fills in the status only', async (t) => {
  const given = givenFor(t);
  const old = widget({ spec: { title: 'One', size: 1 } });
  given(created(old))
    .when(merge({ status: { more: 1 } }, { part: 'status' }), { type: typeWithStatus })
    .then(
      updated(widget({ metadata: { version: 1 }, spec: { title: 'One', size: 1 }, status: { phase: 'New', more: 1 } })),
    );
});

test('an object that was stored before its type had the default is patched as clients see it', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(
      jsonPatch([
        { op: 'test', path: '/spec/size', value: 3 },
        { op: 'replace', path: '/spec/size', value: 4 },
      ]),
      {
        type,
      },
    )
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'One', size: 4 }, status })));
});

test('sending back an object with new defaults appends nothing', async (t) => {
  const given = givenFor(t);
  given(created())
    .when(put(body({ spec, status })), { type })
    .thenNothing(defaulted);
  given(created()).when(put(body()), { type }).thenNothing(defaulted);
  given(created())
    .when(merge({ metadata: { labels: { a: '1' } } }), { type })
    .then(updated(widget({ metadata: { version: 1, labels: { a: '1' } }, spec, status })));
});

test('defaults that make the object too large refuse it as invalid, after the preconditions', async (t) => {
  const given = givenFor(t);
  const parts = Array.from({ length: Math.ceil(objectBytesMax / 1_000) }, () => ({}));
  given()
    .when(create(body({ spec: { title: 'One', parts } })), { type })
    .thenRejected('invalid', '', '/spec/size')
    .thenDetail(/the defaults of the type would add more than the limit of 786432 bytes/u);
  given(created())
    .when(put(body({ metadata: { version: 7 }, spec: { title: 'One', parts } })), { type })
    .thenRejected('stale-version');
});
