import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Offer = { readonly label: string; readonly apply: string; readonly detail: string; readonly info: string };
type Assist = {
  readonly offers: (
    text: string,
    offset: number,
    language: 'yaml' | 'json',
  ) => { readonly from: number; readonly to: number; readonly offers: readonly Offer[] } | undefined;
  readonly explain: (
    text: string,
    offset: number,
    language: 'yaml' | 'json',
  ) => { readonly from: number; readonly to: number; readonly lines: readonly string[] } | undefined;
};
type Module = { readonly schemaAssist: (type: object, isNew: boolean, words: object) => Assist };

const { schemaAssist } = await importConsoleModule<Module>('pages/objects/assist/schema-assist.ts');

const rule = {
  type: 'object',
  required: ['verb'],
  properties: { path: { type: 'string' }, verb: { enum: ['GET', 'PUT'] }, deep: { $ref: '#/components/schemas/Deep' } },
};
const type = {
  components: {
    Deep: { type: 'object', description: 'A deep part.', properties: { next: { $ref: '#/components/schemas/Deep' } } },
    Meta: { type: 'object', properties: { labels: { type: 'object', description: 'Labels of the object.' } } },
  },
  schema: {
    type: 'object',
    properties: {
      metadata: { $ref: '#/components/schemas/Meta' },
      spec: {
        type: 'object',
        required: ['size'],
        properties: {
          enabled: { type: 'boolean', default: true, description: 'Whether it works.' },
          size: { type: 'string', enum: ['small', 'large', 'on'] },
          rules: { type: 'array', items: rule },
          tags: { type: 'array', items: { enum: ['red', 'blue'] } },
          limits: { type: 'object', additionalProperties: { type: 'integer', description: 'A limit.' } },
        },
      },
    },
  },
};
const assist = schemaAssist(type, true, {
  required: 'required',
  preset: (value: string) => `Default: ${value}`,
  allowed: (values: string) => `Allowed: ${values}`,
});

/** Returns the labels at the sign `|` of a text, and the text that is replaced. */
function at(marked: string, language: 'yaml' | 'json' = 'yaml'): { labels: readonly string[]; word: string } {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = assist.offers(text, offset, language);
  return {
    labels: found?.offers.map(({ label }) => label) ?? [],
    word: found === undefined ? '' : text.slice(found.from, found.to),
  };
}

test('members of YAML are offered where they may be written, required ones first', async (t) => {
  t.strictSame(at('spec:\n  |').labels, ['size', 'enabled', 'rules', 'tags', 'limits']);
  t.strictSame(at('spec:\n  en|').word, 'en');
  t.strictSame(at('spec:\n  size: small\n  |\n  tags: []\n').labels, ['enabled', 'rules', 'limits']);
  t.strictSame(at('|').labels, ['metadata', 'spec']);
  t.strictSame(at('spec:\n  rules:\n    - |').labels, ['verb', 'path', 'deep']);
  t.strictSame(at('spec:\n  rules:\n  - verb: GET\n    |\n  - path: /').labels, ['path', 'deep']);
  t.strictSame(at('spec:\n  rules:\n    - path: /\n      deep:\n        next:\n          |').labels, ['next']);
  t.strictSame(at('spec:\n  rules:\n    - deep:\n        next: {}\n      |').labels, ['verb', 'path']);
  t.ok(at('metadata:\n  |').labels.includes('labels'));
  t.notOk(at('metadata:\n  |').labels.includes('uid'), 'members that the server sets are not offered');
});

test('values of YAML are offered: enumerations, booleans, items', async (t) => {
  t.strictSame(at('spec:\n  size: |').labels, ['small', 'large', 'on']);
  t.strictSame(at('spec:\n  size: "sm|"').word, '"sm"');
  t.strictSame(at('spec:\n  enabled: |').labels, ['true', 'false'], 'the default is first');
  t.strictSame(at('spec:\n  tags:\n    - r|').labels, ['red', 'blue']);
  t.strictSame(at('spec:\n  rules:\n    - verb: |').labels, ['GET', 'PUT']);
});

test('nothing is offered in comments, in blocks of text and in flow style', async (t) => {
  t.strictSame(at('spec:\n  # s|').labels, []);
  t.strictSame(at('spec:\n  size: >-\n    s|').labels, []);
  t.strictSame(at('spec: { s| }').labels, []);
  t.strictSame(at(`spec:\n  en|\n${'#'.repeat(200_000)}`).labels, [], 'a long text is not scanned');
});

test('members and values of JSON are offered, also in a text that cannot be read', async (t) => {
  t.strictSame(at('{"spec": {|', 'json').labels, ['"size"', '"enabled"', '"rules"', '"tags"', '"limits"']);
  t.strictSame(at('{"spec": {"size": "small", "|": 1, "tags": []}}', 'json').labels, [
    '"enabled"',
    '"rules"',
    '"limits"',
  ]);
  t.strictSame(at('{"spec": {"size": |', 'json').labels, ['"small"', '"large"', '"on"']);
  t.strictSame(at('{"spec": {"rules": [{"path": "/"}, {"verb": "G|"}]}}', 'json').labels, ['"GET"', '"PUT"']);
  t.strictSame(at('{"spec": {"rules": [{"|', 'json').labels, ['"verb"', '"path"', '"deep"']);
  t.strictSame(at('{"spec": {"tags": ["red", |]}}', 'json').labels, ['"red"', '"blue"']);
  t.strictSame(at('|', 'json').labels, []);
});

test('a chosen member is written up to where its value begins', async (t) => {
  const applied = (marked: string, name: string, language: 'yaml' | 'json' = 'yaml'): string | undefined => {
    const found = assist.offers(marked.replace('|', ''), marked.indexOf('|'), language);
    return found?.offers.find(({ label }) => label.includes(name))?.apply;
  };
  t.equal(applied('spec:\n  |', 'size'), 'size: ');
  t.equal(applied('spec:\n  |', 'rules'), 'rules:\n    - ');
  t.equal(applied('spec:\n  |', 'limits'), 'limits:\n    ');
  t.equal(applied('spec:\n  s|: x', 'size'), 'size', 'the colon is there already');
  t.equal(applied('{"spec": {"|"}}', 'size', 'json'), '"size": ');
  t.equal(applied('{"spec": {"|": 1}}', 'size', 'json'), '"size"');
});

test('a member is explained with its type, texts, values and default', async (t) => {
  const explained = (marked: string, language: 'yaml' | 'json' = 'yaml'): readonly string[] | undefined =>
    assist.explain(marked.replace('|', ''), marked.indexOf('|'), language)?.lines;
  t.strictSame(explained('spec:\n  ena|bled: true'), ['enabled · boolean', 'Whether it works.', 'Default: true']);
  t.strictSame(explained('{"spec": {"si|ze": 1}}', 'json'), [
    'size · string · required',
    'Allowed: "small", "large", "on"',
  ]);
  t.strictSame(explained('spec:\n  limits:\n    cp|u: 1'), ['cpu · integer', 'A limit.']);
  t.strictSame(explained('metadata:\n  lab|els: {}'), ['labels · object', 'Labels of the object.']);
  t.equal(explained('spec:\n  unkn|own: 1'), undefined);
});
