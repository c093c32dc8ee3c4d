import { test } from 'tap';
import type { IndexEntry } from '../../src/resource/type/index-entry.ts';
import type { IndexRequirement, LabelRequirement } from '../../src/resource/query/list-query.ts';
import { matches } from '../../src/resource/query/selection-match.ts';

const entry: IndexEntry = {
  name: 'a',
  created: 5,
  labels: { app: 'x', empty: '' },
  keys: [['a'], [5], [], ['p', 'q']],
};
const selects = (requirement: IndexRequirement): boolean => matches({ labels: [], fields: [requirement] }, entry);
const labelled = (requirement: LabelRequirement): boolean => matches({ labels: [requirement], fields: [] }, entry);

test('a label requirement matches or not; a negative one also matches without the key', (t) => {
  t.ok(labelled({ key: 'app', operator: 'in', values: ['y', 'x'] }));
  t.notOk(labelled({ key: 'app', operator: 'in', values: ['y'] }));
  t.ok(labelled({ key: 'app', operator: 'notIn', values: ['y'] }));
  t.notOk(labelled({ key: 'app', operator: 'notIn', values: ['x'] }));
  t.ok(labelled({ key: 'none', operator: 'notIn', values: ['x'] }));
  t.notOk(labelled({ key: 'none', operator: 'in', values: [''] }), 'an absent label is not an empty one');
  t.ok(labelled({ key: 'empty', operator: 'exists' }));
  t.ok(labelled({ key: 'constructor', operator: 'absent' }));
  t.notOk(labelled({ key: 'constructor', operator: 'exists' }));
  t.end();
});

test('a multi-valued index matches a positive condition with any value, a negative one with none', (t) => {
  t.ok(selects({ index: 3, operator: 'in', keys: ['q'] }));
  t.notOk(selects({ index: 3, operator: 'notIn', keys: ['q', 'z'] }));
  t.ok(selects({ index: 3, operator: 'notIn', keys: ['z'] }));
  t.ok(selects({ index: 3, operator: '>', key: 'p' }));
  t.notOk(selects({ index: 3, operator: '>', key: 'q' }));
  t.end();
});

test('an object without a value matches only absent or negative requirements', (t) => {
  t.ok(selects({ index: 2, operator: 'absent' }));
  t.ok(selects({ index: 2, operator: 'notIn', keys: [1] }));
  for (const operator of ['<', '<=', '>', '>='] as const) t.notOk(selects({ index: 2, operator, key: 0 }), operator);
  t.notOk(selects({ index: 2, operator: 'exists' }));
  t.notOk(selects({ index: 2, operator: '^=', prefix: '' }));
  t.end();
});

test('all requirements must hold, and none selects everything', (t) => {
  t.ok(matches({ labels: [], fields: [] }, entry));
  t.ok(
    matches({ labels: [{ key: 'app', operator: 'exists' }], fields: [{ index: 1, operator: '<=', key: 5 }] }, entry),
  );
  t.notOk(
    matches({ labels: [{ key: 'app', operator: 'exists' }], fields: [{ index: 1, operator: '<', key: 5 }] }, entry),
  );
  t.end();
});
