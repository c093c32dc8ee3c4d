import { test } from 'tap';
import { parse } from 'yaml';

import { importConsoleModule } from '../support/console-module.ts';

type UpdateText = { readonly updatedText: (text: string, value: object) => string };

const { updatedText } = await importConsoleModule<UpdateText>('pages/objects/object/update-text.ts');

const text = `# The whole
apiVersion: v1 # the version
metadata:
  name: lamp
spec:
  # The title
  title: "Lamp" # shown everywhere
  size: 0x10
  tags:
    - one # first
    - two # second
    # before three
    - three
`;
const value = parse(text) as { readonly spec: object };
const withSpec = (spec: object) => ({ ...value, spec: { ...value.spec, ...spec } });

test('a changed value keeps all comments, and the form of everything else', async (t) => {
  t.equal(updatedText(text, value), text, 'an equal value changes nothing');
  t.equal(updatedText(text, withSpec({ title: 'Light' })), text.replace('"Lamp"', '"Light"'));
  t.equal(updatedText(text, withSpec({ more: { a: 1 } })), `${text}  more:\n    a: 1\n`);
});

test('an element that moves or stays keeps its comments', async (t) => {
  const moved = updatedText(text, withSpec({ tags: ['three', 'one', 'two'] }));
  t.match(moved, /# before three\n {4}- three\n {4}- one # first\n {4}- two # second/u);
  const removed = updatedText(text, withSpec({ tags: ['two', 'three'] }));
  t.match(removed, /tags:\n {4}- two # second\n {4}# before three\n {4}- three\n$/u);
  const changed = updatedText(text, withSpec({ tags: ['one', '2', 'three'] }));
  t.match(changed, /- one # first\n {4}- "2" # second/u);
});

test('the result always has the new value', async (t) => {
  const cases: readonly (readonly [string, object])[] = [
    ['a: &x [1, 2]\nb: *x\n', { a: [1, 2, 3], b: [1, 2] }],
    ['a: &x {c: 1}\nb: *x\n', { a: { c: 2 }, b: { c: 1 } }],
    ['{}', { a: { b: [] } }],
    ['a: |\n  long\n  text\n', { a: 'short' }],
    ['a: x\n', { a: 'two\nlines' }],
    ['a: [', { b: 1 }],
    ['- 1\n', { b: 1 }],
    ['a: null\n', { a: { b: null } }],
    ['1: x\n"2": y\n', { '1': 'z', '2': 'y' }],
    ['a: [1, 1, 1]\n', { a: [1, 1] }],
    ['a: !custom x\n', { a: 'yes', b: '<script>' }],
    ['__proto__: {a: 1}\n', { a: 1 }],
  ];
  for (const [before, after] of cases) t.strictSame(parse(updatedText(before, after)), after, before);
});
