import { test } from 'tap';

import { decodeReconcilers } from '../../src/plugin/load/decode-reconcilers.ts';
import type { PluginObject } from '../../src/plugin/api/plugin.ts';
import {
  reconcilerConcurrencyMax,
  reconcilerNameLengthMax,
  reconcilersPerPluginMax,
  reconcilerWatchesMax,
} from '../../src/plugin/lifecycle/reconciler-limits.ts';

const goods = { group: 'goods.example', version: 'v1', plural: 'goods' };
const shops = { ...goods, plural: 'shops' };
const types = [{ ...goods, kind: 'Good' }, { ...shops, kind: 'Shop' }, undefined, 'rubbish'];
const reconcile = (): undefined => undefined;
const whole = { type: shops, reconcile };
const watch = { type: goods, names: () => [] };

/** A declaration, and all reported violations of it. */
const refused: Readonly<Record<string, readonly [unknown, readonly RegExp[]]>> = {
  'no list': [{}, [/^reconcilers: must be an array of at most/u]],
  'a text': ['reconcilers', [/^reconcilers: must be an array/u]],
  null: [null, [/^reconcilers: must be an array/u]],
  'too many': [
    Array.from({ length: reconcilersPerPluginMax + 1 }, (_, index) => ({ ...whole, name: `r${String(index)}` })),
    [/^reconcilers: must be an array of at most/u],
  ],
  'a hole': [Array.from({ length: 1 }), [/^reconcilers\[0\]: must be an object$/u]],
  'a function': [[reconcile], [/^reconcilers\[0\]: must be an object$/u]],
  'no type': [
    [{ reconcile }],
    [/^reconcilers\[0\]\.type: must be an object with the group, version and plural of a type$/u],
  ],
  'half a type': [
    [{ ...whole, type: { group: 'goods.example', plural: 'goods' } }],
    [/^reconcilers\[0\]\.type: must be an object with the group/u],
  ],
  "another plugin's type": [
    [{ ...whole, type: { ...goods, plural: 'roles' } }],
    [/^reconcilers\[0\]\.type: roles of goods\.example\/v1 is not a type of this plugin; must be one of /u],
  ],
  'another version': [
    [{ ...whole, type: { ...goods, version: 'v2' } }],
    [/is not a type of this plugin; the plugin has it in v1$/u],
  ],
  'no function': [[{ type: shops }], [/^reconcilers\[0\]\.reconcile: must be a function$/u]],
  'a typo': [[{ ...whole, watch: [] }], [/^reconcilers\[0\]\.watch: is not known; did you mean "watches"\?$/u]],
  'nobody at once': [
    [{ ...whole, concurrency: 0 }],
    [/^reconcilers\[0\]\.concurrency: must be a whole number from 1 to/u],
  ],
  'half at once': [[{ ...whole, concurrency: 1.5 }], [/concurrency: must be/u]],
  'too many at once': [[{ ...whole, concurrency: reconcilerConcurrencyMax + 1 }], [/concurrency: must be/u]],
  'all at once': [[{ ...whole, concurrency: Infinity }], [/concurrency: must be/u]],
  'a name that is none': [[{ ...whole, name: 'a b' }], [/^reconcilers\[0\]\.name: must be at most/u]],
  'a name with a quote': [[{ ...whole, name: 'a"b' }], [/name: must be at most/u]],
  'an empty name': [[{ ...whole, name: '' }], [/name: must be at most/u]],
  'a long name': [[{ ...whole, name: 'a'.repeat(reconcilerNameLengthMax + 1) }], [/name: must be at most/u]],
  'a name that is a number': [[{ ...whole, name: 7 }], [/name: must be at most/u]],
  'one name twice': [
    [whole, whole],
    [/^reconcilers\[1\]\.name: another reconciler has the name shops\.goods\.example$/u],
  ],
  'watches that are no list': [
    [{ ...whole, watches: {} }],
    [/^reconcilers\[0\]\.watches: must be an array of at most/u],
  ],
  'too many watches': [
    [{ ...whole, watches: Array.from({ length: reconcilerWatchesMax + 1 }, () => watch) }],
    [/^reconcilers\[0\]\.watches: must be an array/u],
  ],
  'a watch that is none': [[{ ...whole, watches: [null] }], [/^reconcilers\[0\]\.watches\[0\]: must be an object$/u]],
  'a watch of nothing': [
    [{ ...whole, watches: [{ names: () => [] }] }],
    [/^reconcilers\[0\]\.watches\[0\]\.type: must be an object with the group/u],
  ],
  "a watch of another plugin's type": [
    [{ ...whole, watches: [{ ...watch, type: { group: '', version: 'v1alpha1', plural: 'users' } }] }],
    [/watches\[0\]\.type: users of .* is not a type of this plugin; must be one of /u],
  ],
  'a watch without a function': [
    [{ ...whole, watches: [{ type: goods, names: 'spec.shop' }] }],
    [/^reconcilers\[0\]\.watches\[0\]\.names: must be a function$/u],
  ],
  'a watch with more': [
    [{ ...whole, watches: [{ ...watch, filter: 1 }] }],
    [/^reconcilers\[0\]\.watches\[0\]\.filter: is not known; must be one of type, names$/u],
  ],
  'everything at once': [
    [{ name: '', concurrency: -1, more: 1 }],
    [/more: is not known/u, /type: must be an object with/u, /reconcile: must/u, /concurrency: must/u],
  ],
};

test('each violation of a declaration is reported with its place, and nothing of it is mounted', async (t) => {
  for (const [name, [declared, expected]] of Object.entries(refused)) {
    const problems: string[] = [];
    decodeReconcilers(declared, types, problems);
    t.equal(problems.length, expected.length, `${name}: ${problems.join('; ')}`);
    for (const [index, problem] of expected.entries()) t.match(problems[index], problem, name);
  }
});

test('a valid declaration is mounted with its defaults', async (t) => {
  const problems: string[] = [];
  t.same(decodeReconcilers(undefined, types, problems), []);
  const [mounted] = decodeReconcilers([whole], types, problems);
  t.match(mounted, { name: 'shops.goods.example', type: shops, concurrency: 1, watches: [] });
  t.strictSame(mounted?.type, shops, 'a name alone: of a declared type nothing else is kept');
  t.same(problems, []);
});

test('class instances as declarations find their own members', async (t) => {
  class Watching {
    readonly type = goods;
    readonly #member = 'shop';
    names(object: PluginObject): readonly string[] {
      return [`${this.#member}-${object.metadata.name}`];
    }
  }
  class Shops {
    readonly #answer = { type: 'again', afterMs: 7 };
    readonly type = shops;
    readonly name = 'Kept_by.class-1';
    readonly concurrency = reconcilerConcurrencyMax;
    readonly watches = [new Watching()];
    reconcile(): unknown {
      return this.#answer;
    }
  }
  const problems: string[] = [];
  const [mounted] = decodeReconcilers([new Shops()], types, problems);
  t.same(problems, []);
  t.equal(mounted?.name, 'Kept_by.class-1');
  t.same(mounted?.reconcile({} as never), { type: 'again', afterMs: 7 });
  t.same(mounted?.watches[0]?.names({ metadata: { name: 'a' } } as PluginObject), ['shop-a']);
});
