import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Decode = {
  readonly decodeDefinition: (module: unknown) => unknown;
  readonly decodeTypes: (read: () => unknown) => unknown;
};
type Filled = { readonly [key: string]: ((context: object) => string) | Filled };
type Messages = { readonly filledMessages: (messages: object, language: string) => Filled };

const component = async (): Promise<object> => Promise.resolve({ default: {} });

test('a definition is accepted as it is, with members that a later kit may have', async (t) => {
  const { decodeDefinition } = await importConsoleModule<Decode>('front-ends/decode-definition.ts');
  const whole = {
    routes: [
      { path: '/a/:b', area: 'own', component, props: true, meta: { title: 'a', permissions: ['x'], menu: {} } },
    ],
    menu: [{ title: 'a', to: '/objects/g/v1/as', order: 1 }],
    objectTabs: [{ name: 'a-1', title: 'a', types: [{ group: '', plural: 'as' }], component }],
    objectActions: [{ name: 'a', title: 'a', component }],
    objectPages: [{ type: { group: 'g', plural: 'as' }, list: component }],
    coveredTypes: () => [],
    tableColumns: [{ type: { group: 'g', plural: 'as' }, name: 'a', title: 'a', text: String }],
    homeCards: [{ name: 'a', width: 'wide', component }],
    messages: { en: { a: 'A', b: { c: 'C' } }, zh: {} },
    later: [],
  };
  t.equal(decodeDefinition({ default: whole }), whole);
  t.strictSame(decodeDefinition({ default: {} }), {});
});

test('covered types that are no list of types count as none', async (t) => {
  const { decodeTypes } = await importConsoleModule<Decode>('front-ends/decode-definition.ts');
  const types = [{ group: 'g', plural: 'as' }];
  t.strictSame(
    decodeTypes(() => types),
    types,
  );
  for (const wrong of [undefined, 'as', [7], [{ plural: 'as' }]])
    t.strictSame(
      decodeTypes(() => wrong),
      [],
    );
  t.strictSame(
    decodeTypes(() => {
      throw new Error('no');
    }),
    [],
  );
});

test('an invalid definition is refused with the name of the member', async (t) => {
  const { decodeDefinition } = await importConsoleModule<Decode>('front-ends/decode-definition.ts');
  const type = { group: 'g', plural: 'as' };
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'no default export'],
    [7, 'no default export'],
    [{ routes: {} }, 'routes: must be a list'],
    [{ routes: [{ path: '//host', component }] }, 'routes: 0: path: must be a path'],
    [{ routes: [{ path: '/', component: {} }] }, 'routes: 0: component: must be a function'],
    [
      { routes: [{ path: '/', component, meta: { permissions: 'x' } }] },
      'routes: 0: meta: permissions: must be a list',
    ],
    [{ routes: [{ path: '/', component, area: 'all' }] }, 'routes: 0: area: must be own'],
    [
      { routes: Array.from({ length: 201 }, () => ({ path: '/', component })) },
      'routes: must have at most 200 entries',
    ],
    [{ menu: [{ title: 'a', to: 'javascript:alert(1)' }] }, 'menu: 0: to: must be a path'],
    [{ homeCards: [{ name: 'A b', component }] }, 'homeCards: 0: name: must have lowercase letters'],
    [{ homeCards: [{ name: 'a', order: Number.NaN, component }] }, 'homeCards: 0: order: must be a finite number'],
    [{ tableColumns: [{ type, name: 'a', title: '' }] }, 'tableColumns: 0: title: must be a text'],
    [{ messages: { zh: {} } }, 'messages: must be an object with the member en'],
    [{ messages: { en: { a: 7 } } }, 'messages: en.a: must be a text or an object'],
  ];
  for (const [exported, problem] of cases)
    t.throws(() => decodeDefinition({ default: exported }), { message: new RegExp(problem, 'u') }, problem);
});

test('messages are English where a language lacks them, and fill only the placeholders that have values', async (t) => {
  const { filledMessages } = await importConsoleModule<Messages>('locales/plugin-messages.ts');
  const messages = {
    en: { a: 'A {x} {y} @:b {{ z }}', b: { c: 'C', d: 'one | {n} more' }, e: 'text', f: { g: 'G' } },
    zh: { b: { c: '丙' }, e: { h: 'H' }, f: '己' },
  };
  const context = (values: Readonly<Record<string, unknown>>, form = 0): object => ({
    named: (name: string) => values[name],
    plural: (forms: readonly string[]) => forms[form],
  });
  const shown = (filled: Filled | Filled[string] | undefined, values: object): unknown =>
    typeof filled === 'function'
      ? filled(values)
      : Object.fromEntries(Object.entries(filled ?? {}).map(([key, each]) => [key, shown(each, values)]));
  t.strictSame(shown(filledMessages(messages, 'zh'), context({ x: '$&', n: 2 }, 1)), {
    b: { c: '丙', d: '2 more' },
    e: { h: 'H' },
    f: '己',
    a: 'A $& {y} @:b {{ z }}',
  });
  t.strictSame(shown(filledMessages(messages, 'fr')['b'], context({}, 0)), { c: 'C', d: 'one' });
  t.notOk(Object.hasOwn(filledMessages({ en: JSON.parse('{"__proto__":{"a":"b"}}') as object }, 'en'), 'a'));
});
