import { test } from 'tap';

import type { HookWatch } from '../../src/command/facts.ts';
import { hookDetailLengthMax, hookValuesMax } from '../../src/limits/rules.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import {
  body,
  collect,
  create,
  created,
  drawnUid,
  givenFor,
  marked,
  merge,
  now,
  put,
  remove,
  removed,
  removalOf,
  updated,
  widget,
  widgetType,
} from '../support/given.ts';

type Spec = { readonly title?: string; readonly size?: number; readonly serial?: string; readonly tags?: string[] };
type Object = ResourceObject & { readonly spec?: Spec };

function hooked(hooks: object, changes: object = {}): ResourceType {
  return widgetType({ hooks, ...changes });
}

const metadata = { uid: drawnUid, creationTimestamp: now };
const titled = (object: Object): object => ({
  ...object,
  spec: { serial: `S-${object.spec?.title ?? ''}`, ...object.spec },
});

test('the hook `default` completes an object, and the defaults of its schema complete what it adds', async (t) => {
  const given = givenFor(t);
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { title: { type: 'string', default: 'New' }, place: { properties: { x: { default: 7 } } } },
      },
    },
  };
  const type = hooked(
    { default: (object: Object) => ({ ...object, spec: { ...object.spec, place: { y: object.spec?.title } } }) },
    { schema },
  );
  given()
    .when(create(body({ spec: {} })), { type })
    .then(created(widget({ metadata, spec: { title: 'New', place: { y: 'New', x: 7 } } })));
  const labelled = hooked({
    default: ({ metadata: { labels, ...rest }, ...object }: Object) => ({
      ...object,
      metadata: { ...rest, labels: { ...labels, 'example.com/by': 'hook' } },
    }),
  });
  given()
    .when(create(body()), { type: labelled })
    .then(created(widget({ metadata: { ...metadata, labels: { 'example.com/by': 'hook' } } })));
});

test('hooks know the operation, the user and the time, and get frozen objects', async (t) => {
  const given = givenFor(t);
  const calls: unknown[] = [];
  const type = hooked(
    {
      default: (object: Object, context: object) => {
        calls.push(['default', object.metadata.name, context]);
        t.ok(Object.isFrozen(object) && Object.isFrozen(object.spec) && Object.isFrozen(context));
      },
      validate: (object: Object, old: Object | undefined, context: object) => {
        calls.push(['validate', object.spec?.title, old?.spec?.title, context]);
      },
      validateDelete: (object: Object, context: object) => {
        calls.push(['validateDelete', object.metadata.name, context]);
      },
    },
    { statusSubresource: true },
  );
  const user = { name: 'system:test' };
  given()
    .when(create(body()), { type })
    .then(created(widget({ metadata })));
  given(created())
    .when(merge({ spec: { title: 'Two' } }), { type })
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'Two' } })));
  given(created())
    .when(merge({ status: { phase: 'x' } }, { part: 'status' }), { type })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'x' } })));
  const going = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now } });
  given(created())
    .when(remove(), { type })
    .then(...removed(going));
  t.strictSame(calls, [
    ['default', 'w1', { operation: 'create', user, now }],
    ['validate', 'One', undefined, { operation: 'create', user, now }],
    ['default', 'w1', { operation: 'update', user, now }],
    ['validate', 'Two', 'One', { operation: 'update', user, now }],
    ['default', 'w1', { operation: 'status', user, now }],
    ['validate', 'One', 'One', { operation: 'status', user, now }],
    ['validateDelete', 'w1', { operation: 'delete', user, now }],
  ]);
});

test('violations of the hook `validate` refuse a valid object, and no other', async (t) => {
  const given = givenFor(t);
  const type = hooked({
    validate: ({ spec }: Object) => (spec?.size === 13 ? [{ pointer: '/spec/size', detail: 'is unlucky' }] : []),
  });
  given()
    .when(create(body({ spec: { title: 'One', size: 13 } })), { type })
    .thenRejected('invalid', '/spec/size')
    .thenDetail('Widget.example.com "w1" is invalid: spec.size: is unlucky');
  given()
    .when(create(body({ spec: { size: 13 } })), { type })
    .thenRejected('invalid', '/spec/title');
  given(created())
    .when(merge({ spec: { size: 13 } }), { type })
    .thenRejected('invalid', '/spec/size');
  given(created(widget({ spec: { title: 'One', size: 13 } })))
    .when(merge({ spec: { title: 'Two' } }), { type })
    .then(updated(widget({ metadata: { version: 1, generation: 2 }, spec: { title: 'Two', size: 13 } })));
});

test('a write of the status ignores violations elsewhere, and completes the status only', async (t) => {
  const given = givenFor(t);
  const type = hooked(
    {
      default: (object: Object) => ({ ...titled(object), status: { phase: 'Done' } }),
      validate: () => [{ pointer: '/spec/title', detail: 'is bad' }],
    },
    { statusSubresource: true },
  );
  given(created())
    .when(merge({ status: {} }, { part: 'status' }), { type })
    .then(updated(widget({ metadata: { version: 1 }, status: { phase: 'Done' } })));
});

test('a write that changes nothing runs no hook, and one that frees a marked object neither', async (t) => {
  const given = givenFor(t);
  const type = hooked({
    default: titled,
    validate: () => [{ pointer: '', detail: 'never' }],
    validateDelete: () => [{ pointer: '', detail: 'never' }],
  });
  given(created()).when(put(body()), { type }).thenNothing(widget());
  const going = widget({ metadata: { version: 1, generation: 2, deletionTimestamp: now, finalizers: ['f'] } });
  const { finalizers: _gone, ...freed } = going.metadata;
  const free = { ...going, metadata: { ...freed, version: 2 } };
  const stored = [created(widget({ metadata: { finalizers: ['f'] } })), marked(going)];
  given(...stored)
    .when(merge({ metadata: { finalizers: null } }), { type })
    .then(updated(free), removalOf(free));
  given(...stored)
    .when(remove(), { type })
    .thenNothing(going);
  given(created(), marked(widget({ metadata: { version: 1, deletionTimestamp: now } })))
    .when(collect(), { type })
    .then(removalOf(widget({ metadata: { version: 1, deletionTimestamp: now } })));
});

test('the hook `validateDelete` refuses a deletion', async (t) => {
  const given = givenFor(t);
  const type = hooked({ validateDelete: () => [{ pointer: '/spec/size', detail: 'is still used' }] });
  given(created()).when(remove(), { type }).thenRejected('invalid', '/spec/size');
  given(created())
    .when(remove({ uid: 'other' }), { type })
    .thenRejected('stale-version');
});

test('a hook that fails is a fault of its plugin: the write is refused, and the fault recorded', async (t) => {
  const given = givenFor(t);
  const faults: string[] = [];
  const hookWatch: HookWatch = {
    run: (_type, _hook, call) => call(),
    failed: (type, hook, { problem }) => faults.push(`${type.plugin} ${hook} ${problem}`),
  };
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const changed = (change: object) => (object: Object) => ({ ...object, metadata: { ...object.metadata, ...change } });
  const table: readonly (readonly [object, RegExp])[] = [
    [
      {
        default: () => {
          throw new Error('boom');
        },
      },
      /"default" of the type Widget, of the plugin example, threw: boom/,
    ],
    [
      {
        default: ({ spec }: { spec: { size: number } }) => {
          spec.size = 1;
        },
      },
      /threw: Cannot add property size/,
    ],
    [{ default: () => Promise.resolve({}) }, /returned a promise/],
    [{ default: () => Promise.reject(new Error('later')) }, /returned a promise/],
    [
      { default: () => 3 },
      /wrong result: it is a number, which is not JSON|wrong result: it is a value of type number/,
    ],
    [{ default: (object: Object) => ({ ...object, kind: 'Gadget' }) }, /changes apiVersion, kind or metadata/],
    [{ default: changed({ uid: 'x' }) }, /changes apiVersion, kind or metadata/],
    [{ default: changed({ labels: { 'svc.run/x': '1' } }) }, /sets the label "svc\.run\/x", which is reserved/],
    [{ default: (object: Object) => ({ ...object, spec: circular }) }, /nests deeper than 128/],
    [{ default: (object: Object) => ({ ...object, spec: { title: () => 'x' } }) }, /\/spec\/title is a function/],
    [
      { default: (object: Object) => ({ ...object, spec: { title: new Date(0) } }) },
      /\/spec\/title is an object of a class/,
    ],
    [{ default: (object: Object) => ({ ...object, spec: { size: NaN } }) }, /\/spec\/size is a number/],
    [
      { default: (object: Object) => ({ ...object, spec: Array.from({ length: hookValuesMax + 1 }, () => ({})) }) },
      /more than 400000 values/,
    ],
    [{ validate: () => 'bad' }, /"validate" .* wrong result: it is a value of type string, not an array/],
    [{ validate: () => [{ pointer: 'spec', detail: 'x' }] }, /\[0\]\.pointer is not a JSON pointer/],
    [{ validate: () => [{ pointer: '/spec' }] }, /\[0\]\.detail is not a string/],
    [
      {
        validate: () => {
          throw new Proxy(new Error('no'), {
            get: () => {
              throw new Error('no');
            },
          });
        },
      },
      /threw an error that cannot be printed/,
    ],
  ];
  for (const [hooks, detail] of table)
    given()
      .when(create(body()), { type: hooked(hooks), hookWatch })
      .thenRejected('invalid', '')
      .thenDetail(detail);
  given(created())
    .when(remove(), { type: hooked({ validateDelete: () => 3 }), hookWatch })
    .thenRejected('invalid', '')
    .thenDetail(/"validateDelete"/u);
  t.equal(faults.length, table.length + 1);
  t.match(faults[0], 'example default threw: boom');
});

test('a hook that throws for an object that its schema refuses is not at fault', async (t) => {
  const given = givenFor(t);
  const hookWatch: HookWatch = { run: (_type, _hook, call) => call(), failed: () => t.fail('recorded') };
  const type = hooked({ default: ({ spec }: { spec: { title: string } }) => ({ spec: spec.title.trim() }) });
  given()
    .when(create({ metadata: { name: 'w1' } }), { type, hookWatch })
    .thenRejected('invalid', '/spec');
});

test('what a hook returns cannot change the stored object later', async (t) => {
  const given = givenFor(t);
  const tags = ['a'];
  const type = hooked({ default: (object: Object) => ({ ...object, spec: { title: 'One', tags } }) });
  const { decision } = given().when(create(body()), { type });
  tags.push('b');
  t.match(decision, { ok: true, object: { spec: { tags: ['a'] } } });
  t.strictSame(decision.ok && (decision.object['spec'] as Spec).tags, ['a']);
});

test('a long text of a hook is cut', async (t) => {
  const given = givenFor(t);
  const type = hooked({ validate: () => [{ pointer: '', detail: 'x'.repeat(hookDetailLengthMax + 1) }] });
  given()
    .when(create(body()), { type })
    .thenDetail(`Widget.example.com "w1" is invalid: ${'x'.repeat(hookDetailLengthMax)}`);
});
