import { test } from 'tap';

import { namesOf } from '../../../src/cli/types/type-names.ts';

function namesFor(...types: readonly (readonly [kind: string, group: string, plural?: string])[]): readonly string[] {
  const named = types.map(([kind, group, plural = 'things']) => ({ kind, group, plural, version: 'v1' }));
  return namesOf(named).map(({ type, constant }) => `${type} ${constant}`);
}

test('a type is named by its kind, and its constant begins in lower case', async (t) => {
  t.strictSame(namesFor(['Widget', 'a.b'], ['APIKey', 'a.b'], ['URL', 'a.b'], ['A1', 'a.b']), [
    'Widget widget',
    'APIKey apiKey',
    'URL url',
    'A1 a1',
  ]);
});

test('a constant is no word of the language', async (t) => {
  t.strictSame(namesFor(['Class', 'a.b'], ['Await', 'a.b'], ['Function', 'a.b']), [
    'Class classType',
    'Await awaitType',
    'Function functionType',
  ]);
});

test('kinds with equal names, or with constants of equal names, differ by group, plural and number', async (t) => {
  t.strictSame(namesFor(['Thing', 'a.example'], ['Thing', 'b.example'], ['Other', 'b.example']), [
    'ThingAExample thingAExample',
    'ThingBExample thingBExample',
    'Other other',
  ]);
  t.strictSame(namesFor(['Thing', '', 'things'], ['Thing', 'a.b', 'things'], ['Thing', 'a.b', 'odd-things']), [
    'ThingCore thingCore',
    'ThingABThings thingABThings',
    'ThingABOddThings thingABOddThings',
  ]);
  t.strictSame(namesFor(['APIKey', 'a.b'], ['ApiKey', 'c.d']), ['APIKeyAB apiKeyAB', 'ApiKeyCD apiKeyCD']);
  t.strictSame(namesFor(['Thing', 'a.b'], ['Thing', 'a-b'], ['ThingABThings2', 'x.y']), [
    'ThingABThings3 thingABThings3',
    'ThingABThings4 thingABThings4',
    'ThingABThings2 thingABThings2',
  ]);
});

test('a kind does not hide a name that the file uses', async (t) => {
  t.strictSame(namesFor(['Record', 'a.b'], ['Typed', 'a.b', 'typeds'], ['String', 'a.b']), [
    'RecordAB recordAB',
    'TypedAB typedAB',
    'String stringType',
  ]);
});
