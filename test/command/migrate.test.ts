import { test } from 'tap';

import { migrate, type MigrationStep } from '../../src/command/upgrade/migrate.ts';
import { hookValuesMax } from '../../src/limits/rules.ts';
import { widget } from '../support/given.ts';

type Spec = { readonly title?: string; readonly label?: string };
type Given = { readonly metadata: object; readonly spec: Spec };

function step(up: (object: Given) => unknown): MigrationStep {
  return up as MigrationStep;
}

const rename = step((object) => {
  const { title, ...spec } = object.spec;
  return title === undefined ? undefined : { ...object, spec: { ...spec, label: title } };
});

test('a step returns the object in the new form', (t) => {
  t.match(migrate(rename, widget()), { ok: true, object: { spec: { label: 'One' } } });
  t.end();
});

test('an object that has the new form already is unchanged', (t) => {
  const unchanged = { ok: true, object: undefined };
  t.same(migrate(rename, widget({ spec: { label: 'One' } })), unchanged);
  t.same(
    migrate(
      step((object) => object),
      widget(),
    ),
    unchanged,
  );
  t.same(
    migrate(
      step((object) => JSON.parse(JSON.stringify(object)) as object),
      widget(),
    ),
    unchanged,
    'an equal copy',
  );
  t.end();
});

test('the argument is frozen, and the stored object is not the result', (t) => {
  const stored = widget();
  const changing = migrate(
    step((object) => {
      (object.spec as { title: string }).title = 'other';
      return object;
    }),
    stored,
  );
  t.match(changing, { ok: false, problem: /^threw: / });
  t.equal((stored['spec'] as Spec).title, 'One');
  t.end();
});

const wrong: readonly (readonly [string, (object: Given) => unknown, RegExp])[] = [
  ['a promise', async (object) => Promise.resolve(object), /^returned a promise; steps must be synchronous$/u],
  ['a rejected promise', async () => Promise.reject(new Error('later')), /^returned a promise/u],
  ['a thenable', () => ({ then: () => undefined }), /^returned a promise/u],
  ['a text', () => 'text', /it is string, not an object/u],
  ['null', () => null, /it is null, not an object/u],
  ['a list', () => [1], /it is an array, not an object/u],
  ['a function within', (object) => ({ ...object, spec: { label: () => 1 } }), /\/spec\/label is a function/u],
  ['a class', (object) => ({ ...object, spec: { label: new Date() } }), /\/spec\/label is an object of a class/u],
  ['another kind', (object) => ({ ...object, kind: 'Gadget' }), /changes apiVersion, kind or metadata/u],
  ['another version', (object) => ({ ...object, apiVersion: 'example.com/v9' }), /changes apiVersion/u],
  ['another uid', (object) => ({ ...object, metadata: { ...object.metadata, uid: 'x' } }), /changes apiVersion/u],
  ['another name', (object) => ({ ...object, metadata: { ...object.metadata, name: 'x' } }), /changes apiVersion/u],
  ['no metadata', ({ spec }) => ({ apiVersion: 'example.com/v1', kind: 'Widget', spec }), /changes apiVersion/u],
  [
    'too many values',
    (object) => ({ ...object, spec: { list: Array.from({ length: hookValuesMax + 1 }, () => ({})) } }),
    /has more than 400000 values/u,
  ],
  [
    'an error that cannot be read',
    () => {
      throw Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('y');
        },
      });
    },
    /^threw an error that cannot be printed$/u,
  ],
];
for (const [what, up, problem] of wrong)
  test(`a step that returns or throws ${what} fails`, (t) => {
    t.match(migrate(step(up), widget()), { ok: false, problem });
    t.end();
  });

test('labels, annotations and finalizers may change', (t) => {
  const labelled = migrate(
    step((object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { 'a.b/c': 'd' }, finalizers: ['a.b/x'] },
    })),
    widget(),
  );
  t.match(labelled, { ok: true, object: { metadata: { labels: { 'a.b/c': 'd' }, finalizers: ['a.b/x'] } } });
  t.end();
});

test('a step that changes its own result again is refused, as it would never end', (t) => {
  const counting = step((object) => ({ ...object, spec: { title: `${object.spec.title ?? ''}+` } }));
  t.match(migrate(counting, widget()), {
    ok: false,
    problem: /the step changes it again, so the step is not idempotent/u,
  });
  const throwing = step((object) => {
    if (object.spec.title === undefined) throw new Error('no title');
    return { ...object, spec: { label: object.spec.title } };
  });
  t.match(migrate(throwing, widget()), { ok: false, problem: /^threw: no title, when it ran again on its result$/u });
  t.end();
});
