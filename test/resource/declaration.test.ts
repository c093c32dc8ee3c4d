import { test } from 'tap';

import { isSameDeclaration, type Declaration } from '../../src/resource/type/declaration.ts';
import { widgetType } from '../support/given.ts';

const serial = { name: 'spec.serial', unique: true };
const first = (object: { readonly spec: { readonly title: string } }): string => object.spec.title;

function declared(changes: Readonly<Record<string, unknown>> = {}, code?: string): Declaration {
  const { declaration } = widgetType(changes, { version: '1.2.3', source: 'folder', code });
  if (declaration === undefined) throw new Error('a compiled type has a declaration');
  return declaration;
}

const schema = (title: unknown) => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { title } },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
});

test('the shape depends on the rules of validity in any order, and not on code', async (t) => {
  const { shape } = declared({ schema: schema({ type: 'string', minLength: 1 }) }, 'a');
  t.equal(declared({ schema: schema({ minLength: 1, type: 'string' }) }, 'b').shape, shape);
  t.not(declared({ schema: schema({ type: 'string', minLength: 2 }) }, 'a').shape, shape);
  const plain = declared({ indexes: [{ name: 'spec.serial' }] }, 'a');
  const made = declared({ indexes: [{ name: 'spec.serial', indexFunc: first }] }, 'a');
  for (const other of [{ ...serial }, { name: 'spec.serial', multi: true }, { name: 'spec.serial', type: 'number' }]) {
    t.not(declared({ indexes: [other] }, 'a').shape, plain.shape, JSON.stringify(other));
  }
  t.not(made.shape, plain.shape, 'whether there is a function counts');
  t.equal(
    declared({ indexes: [{ name: 'spec.serial', indexFunc: () => 'other' }] }, 'a').shape,
    made.shape,
    'another function has the same shape',
  );
  t.not(declared({ version: 'v2' }).shape, declared({ version: 'v1' }).shape);
});

test("the code is the digest of the files, and where there are none that of the functions' texts", async (t) => {
  t.equal(declared({}, 'digest').code, 'digest');
  const indexes = [{ name: 'spec.serial', indexFunc: first }];
  t.equal(declared({ indexes }).code, declared({ indexes }).code);
  t.not(declared({ indexes: [{ name: 'spec.serial', indexFunc: () => 'other' }] }).code, declared({ indexes }).code);
  t.ok(isSameDeclaration(declared({}, 'a'), declared({}, 'a')));
  t.notOk(isSameDeclaration(declared({}, 'a'), declared({}, 'b')));
});

test('the values of a unique index depend on code only if a function computes them', async (t) => {
  const keysOf = (index: Readonly<Record<string, unknown>>, code: string) =>
    declared({ indexes: [index] }, code).unique;
  t.match(keysOf(serial, 'a'), [{ index: 'spec.serial', keys: /^[0-9a-f]{32}$/u }]);
  t.same(keysOf(serial, 'b'), keysOf(serial, 'a'));
  t.same(keysOf({ ...serial, order: 'DESC' }, 'a'), keysOf(serial, 'a'));
  for (const other of [
    { ...serial, type: 'number' },
    { ...serial, multi: true },
  ])
    t.notSame(keysOf(other, 'a'), keysOf(serial, 'a'));
  const made = { ...serial, indexFunc: first };
  t.notSame(keysOf(made, 'a'), keysOf(serial, 'a'));
  t.notSame(keysOf(made, 'b'), keysOf(made, 'a'));
  t.same(keysOf({ name: 'spec.serial' }, 'a'), [], 'one that is not unique is not among them');
});
