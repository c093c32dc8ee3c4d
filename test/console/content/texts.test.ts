import fc from 'fast-check';
import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Draft = { readonly title: string; readonly content?: string; readonly tags?: readonly string[] };
type Merging = {
  readonly mergeDrafts: (
    base: Draft,
    mine: Draft,
    theirs: Draft,
  ) => { readonly draft: Draft; readonly conflicts: readonly { readonly member: string }[] };
};
type Addresses = Readonly<
  Record<'linkAddress' | 'imageAddress', (address: string, base: string) => string | undefined>
>;
type Formatting = {
  readonly formatted: (
    text: string,
    selection: readonly [number, number],
    format: string,
  ) => {
    readonly from: number;
    readonly to: number;
    readonly text: string;
    readonly select: readonly [number, number];
  };
};
type Posts = {
  readonly slugOf: (title: string) => string;
  readonly changesOf: (base: Draft, draft: Draft) => object | undefined;
};
type Queries = { readonly selectorsOf: (query: { state: string; filter: string }) => readonly string[] };

const sources = '../plugins/content/console';
const { mergeDrafts } = await importConsoleModule<Merging>(`${sources}/editor/merge-drafts.ts`);
const { linkAddress, imageAddress } = await importConsoleModule<Addresses>(`${sources}/markdown/safe-address.ts`);
const { formatted } = await importConsoleModule<Formatting>(`${sources}/editor/format-text.ts`);
const { slugOf, changesOf } = await importConsoleModule<Posts>(`${sources}/posts/post.ts`);
const { selectorsOf } = await importConsoleModule<Queries>(`${sources}/posts/post-query.ts`);

test('changes of two people are merged, and only the same parts are a conflict', async (t) => {
  const base = { title: 'A', content: 'one\ntwo\nthree', tags: ['x'] };
  const { draft, conflicts } = mergeDrafts(
    base,
    { ...base, content: 'ONE\ntwo\nthree' },
    { ...base, title: 'B', content: 'one\ntwo\nTHREE', tags: [] },
  );
  t.match(draft, { title: 'B', content: 'ONE\ntwo\nTHREE' });
  t.strictSame(draft.tags, []);
  t.strictSame(conflicts, []);
  const contrary = mergeDrafts(
    base,
    { ...base, title: 'M', content: 'mine' },
    { ...base, title: 'T', content: 'theirs' },
  );
  t.match(contrary.draft, { title: 'M', content: 'mine' });
  t.strictSame(
    contrary.conflicts.map(({ member }) => member),
    ['title', 'content'],
  );
  t.strictSame(mergeDrafts(base, { ...base, title: 'S' }, { ...base, title: 'S' }).conflicts, []);
  const long = 'line\n'.repeat(10_000);
  t.equal(
    mergeDrafts({ title: '', content: long }, { title: '', content: `a\n${long}` }, { title: '', content: `${long}b` })
      .conflicts.length,
    1,
  );
});

test('a merge loses no change of one side', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 6 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, text, (content, mine, theirs) => {
      const base = { title: 't', content };
      const one = mergeDrafts(base, { ...base, content: mine }, base);
      const other = mergeDrafts(base, base, { ...base, content: theirs });
      const both = mergeDrafts(base, { ...base, content: mine }, { ...base, content: theirs });
      const isKept = (both.draft.content ?? '') === mine || both.conflicts.length === 0;
      return one.draft.content === mine && (other.draft.content ?? '') === theirs && isKept;
    }),
  );
});

test('links lead to the web and to e-mail, and images are pictures of the server', async (t) => {
  const base = 'https://host.example/console/apps/content/new';
  for (const address of ['https://a.example/', 'http://a.example/', 'mailto:a@b.example'])
    t.equal(linkAddress(address, base), address);
  t.equal(linkAddress('/posts/a', base), 'https://host.example/posts/a');
  for (const address of [
    'javascript:alert(1)',
    ' JavaScript:x',
    'java\tscript:x',
    'data:text/html,x',
    'blob:x',
    'file:///x',
    'http://',
  ])
    t.equal(linkAddress(address, base), undefined, address);
  t.equal(imageAddress('/pictures/a.PNG', base), 'https://host.example/pictures/a.PNG');
  for (const address of [
    'https://other.example/a.png',
    'data:image/png;base64,x',
    '/a',
    '/a.png?watch=true',
    '//evil.example/a.png',
    'https://user@host.example/a.png',
  ])
    t.equal(imageAddress(address, base), undefined, address);
});

test('a selection is formatted, and the same format takes it back', async (t) => {
  const apply = (text: string, selection: readonly [number, number], format: string) => {
    const { from, to, text: changed, select } = formatted(text, selection, format);
    const whole = text.slice(0, from) + changed + text.slice(to);
    return { whole, selected: whole.slice(from + select[0], from + select[1]) };
  };
  t.strictSame(apply('a word', [2, 6], 'bold'), { whole: 'a **word**', selected: 'word' });
  t.strictSame(apply('a **word**', [2, 10], 'bold'), { whole: 'a word', selected: 'word' });
  t.strictSame(apply('', [0, 0], 'link'), { whole: '[](https://)', selected: '' });
  t.equal(apply('one\ntwo\nthree', [5, 9], 'list').whole, 'one\n- two\n- three');
  t.equal(apply('- one\n- two', [0, 11], 'list').whole, 'one\ntwo');
  t.equal(apply('one\ntwo', [0, 7], 'numbers').whole, '1. one\n2. two');
  fc.assert(
    fc.property(
      fc.string(),
      fc.nat(),
      fc.nat(),
      fc.constantFrom('bold', 'italic', 'code', 'quote', 'list'),
      (text, a, b, format) => {
        const [from, to] = [a % (text.length + 1), b % (text.length + 1)].sort((left, right) => left - right);
        const { whole } = apply(text, [from ?? 0, to ?? 0], format);
        return (
          whole.includes(text.slice(from, to)) || whole.length < text.length || text.slice(from, to).includes('\n')
        );
      },
    ),
  );
});

test('slugs, patches and selectors', async (t) => {
  t.equal(slugOf('  Zürich & the 2nd Year! '), 'zurich-the-2nd-year');
  t.equal(slugOf('控制'), '');
  t.equal(changesOf({ title: 'a', content: '' }, { title: 'a', tags: [] }), undefined);
  t.strictSame(changesOf({ title: 'a', content: 'x', tags: ['y'] }, { title: 'b', content: '' }), {
    title: 'b',
    content: null,
    tags: null,
  });
  t.strictSame(selectorsOf({ state: 'bin', filter: 'Zü, (x)=\\ 控制v2' }), [
    'spec.deleted=true',
    'words^=zü',
    'words^=x',
    'words^=控制',
    'words^=v2',
  ]);
});
