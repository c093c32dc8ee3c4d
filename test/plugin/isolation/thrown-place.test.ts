import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { loadModule } from '../../../src/plugin/load/load-module.ts';
import { placeInStack } from '../../../src/plugin/errors/thrown-place.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { writePlugins } from '../host/host-stage.ts';

/** The reported place for a plugin with the main module main.mjs. */
async function placeOf(t: Test, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerplane thrown-'));
  t.teardown(async () => rm(root, { recursive: true, force: true }));
  await writePlugins(root, { p: files });
  const folder = join(root, 'p');
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const loaded = await loadModule(
    { path: join(folder, 'main.mjs'), folder, version: '1', context: { name: 'p', domain: 'svc.run', log } },
    new FakeClock(),
  );
  return loaded.ok ? 'it loaded' : loaded.message;
}

test('a syntax error is reported with its file, line and source text', async (t) => {
  t.equal(
    await placeOf(t, { 'main.mjs': 'export const a = 1;\n  export const b = = 2;\n' }),
    "the plugin's module failed: SyntaxError: Unexpected token '=' (at main.mjs:2: export const b = = 2;)",
  );
  t.equal(
    await placeOf(t, {
      'main.mjs': 'import "./lib/other.mjs";\nimport "./lib/deep er.mjs";\n',
      'lib/other.mjs': 'export const good = 1;',
      'lib/deep er.mjs': '\nimport "../main.mjs";\n\nx y;\n',
    }),
    "the plugin's module failed: SyntaxError: Unexpected identifier 'y' (at lib/deep er.mjs:4: x y;)",
    'in an imported file, also in a cycle',
  );
  t.match(
    await placeOf(t, { 'main.mjs': `/*${'x'.repeat(500)}*/ export default { ] }; /*${'y'.repeat(500)}*/` }),
    /Unexpected token '\]' \(at main\.mjs:1: …x+\*\/ export default \{ \] \}; \/\*y+…\)$/u,
    'of a long line the part that matters',
  );
});

test('finding it runs no code of the plugin', async (t) => {
  const runs = join(await mkdtemp(join(tmpdir(), 'ledgerplane-')), 'ran');
  t.match(
    await placeOf(t, {
      'main.mjs': 'import "./first.mjs";\nimport "./bad.mjs";\n',
      'first.mjs': `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(runs)}, "");`,
      'bad.mjs': 'let let',
    }),
    /\(at bad\.mjs:1: let let\)/u,
  );
  await t.rejects(
    import('node:fs/promises').then(async ({ stat }) => stat(runs)),
    { code: 'ENOENT' },
  );
});

test('other errors are reported with their place in the plugin, too', async (t) => {
  t.match(
    await placeOf(t, {
      'main.mjs': 'import { nothing } from "./lib.mjs";\nexport default nothing;\n',
      'lib.mjs': 'export const something = 1;',
    }),
    /does not provide an export named 'nothing' \(at main\.mjs:1: import \{ nothing \} from "\.\/lib\.mjs";\)$/u,
  );
  t.match(await placeOf(t, { 'main.mjs': '\n\nthrow new TypeError("no");\n' }), /TypeError: no \(at main\.mjs:3\)$/u);
  t.match(
    await placeOf(t, { 'main.mjs': 'export default () => { JSON.parse("{"); };\n' }),
    /SyntaxError: .* \(at main\.mjs:1\)$/u,
  );
  t.equal(
    await placeOf(t, { 'main.mjs': 'import "./gone.mjs";\n' }),
    "the plugin's module failed: Error: Cannot find module 'gone.mjs' imported from main.mjs",
  );
  t.match(
    await placeOf(t, { 'main.mjs': 'import x from "./x.json" with { type: "json" };\n', 'x.json': '{\n,' }),
    /SyntaxError: x\.json: /u,
  );
});

test('of a stack the first frame in one of its folders is reported', (t) => {
  const stack =
    'Error: 100% of /p one/x is gone, %zz\n    at f (node:fs:1:2)\n    at g (file:///p%20one/lib/a.mjs?v=1.2:7:9)\n' +
    '    at async h (/other/main.mjs:3:1)';
  t.equal(placeInStack(stack, ['/p one']), ' (at lib/a.mjs:7)');
  t.equal(placeInStack(stack, ['/none', '/other', '/p one']), ' (at main.mjs:3)');
  t.equal(placeInStack(stack, ['/p']), '');
  t.equal(placeInStack('', ['/p']), '');
  t.end();
});
