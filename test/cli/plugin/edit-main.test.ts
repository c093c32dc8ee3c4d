import { test } from 'tap';

import { editMain, type MainAddition } from '../../../src/cli/plugin/edit-main.ts';

const tag: MainAddition = { name: 'tag', from: './tag.ts', member: 'types' };
const head = "import { definePlugin } from 'ledgerplane/plugin';\n";
const added = `${head}import { tag } from './tag.ts';\n`;

test('a constant is imported and added to its list', (t) => {
  const edits: readonly (readonly [string, string])[] = [
    ['export default definePlugin({});\n', 'export default definePlugin({ types: [tag] });\n'],
    ['export default definePlugin({ types: [] });\n', 'export default definePlugin({ types: [tag] });\n'],
    ['export default definePlugin({ types: [a, b,] });\n', 'export default definePlugin({ types: [a, b, tag] });\n'],
    ['export default definePlugin({ stop() {} });\n', 'export default definePlugin({ types: [tag], stop() {} });\n'],
    [
      'export default definePlugin({\n  types: [\n    a,\n  ],\n});\n',
      'export default definePlugin({\n  types: [\n    a,\n    tag,\n  ],\n});\n',
    ],
    [
      "export default definePlugin({\n  // The brace } of a comment, and of a '}'.\n  routes: [],\n});\n",
      'export default definePlugin({\n  types: [tag],\n' +
        "  // The brace } of a comment, and of a '}'.\n  routes: [],\n});\n",
    ],
    [
      'const all = definePlugin({ routes: [{ types: 1 }], types: [a] });\n'.replace('types: 1', 'kinds: 1'),
      'const all = definePlugin({ routes: [{ kinds: 1 }], types: [a, tag] });\n',
    ],
  ];
  for (const [before, after] of edits) t.equal(editMain(head + before, tag), added + after, before);
  t.end();
});

test('a name that only strings and comments contain is free', (t) => {
  const main = (types: string, imports = ''): string =>
    `${head}import { tagGroup } from './tag-group.ts';\n${imports}// The tag.\ndefinePlugin({ types: [${types}] });\n`;
  t.equal(editMain(main('tagGroup'), tag), main('tagGroup, tag', "import { tag } from './tag.ts';\n"));
  t.equal(editMain(main('tagGroup', 'const text = `${tag}`;\n'), tag), undefined);
  t.end();
});

test('an import of several lines, and a module without imports, get the new import', (t) => {
  const several = "import {\n  definePlugin,\n} from 'ledgerplane/plugin';\n";
  t.equal(
    editMain(`${several}definePlugin({});\n`, tag),
    `${several}import { tag } from './tag.ts';\ndefinePlugin({ types: [tag] });\n`,
  );
  t.equal(editMain('definePlugin({});\n', tag), "import { tag } from './tag.ts';\n\ndefinePlugin({ types: [tag] });\n");
  t.end();
});

test('a definition that could be changed wrongly is not changed', (t) => {
  const unsafe = [
    'export default definePlugin(() => ({ types: [] }));',
    'export default {};',
    'definePlugin({}); definePlugin({});',
    'definePlugin({ types });',
    'definePlugin({ types: all });',
    'definePlugin({ types: [...all] });',
    'definePlugin({ types: [make()] });',
    'definePlugin({ types: [a /* , b */] });',
    'definePlugin({ ...all });',
    'definePlugin({ routes: [{ types: [] }] });',
    'definePlugin({ types: [], routes: [{ types: [] }] });',
    "// types: []\nconst tag = 'taken';\ndefinePlugin({ types: [] });",
    "definePlugin({ routes: ['types: []'] });",
  ];
  for (const text of unsafe) t.equal(editMain(text, tag), undefined, text);
  t.end();
});
