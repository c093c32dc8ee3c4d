import { defineConfig } from 'eslint/config';
import vue from 'eslint-plugin-vue';
import tseslint from 'typescript-eslint';

/**
 * The files that parse: each converts unknown input to a type in one place, so only these files may assert a type. A
 * new entry needs the reason why its input cannot be narrowed.
 */
const parsers = [
  // Each brand has one constructor.
  'src/log/log.ts',
  'src/resource/**/*.ts',
  'src/read/permission-reader.ts',
  // Decode bytes, requests, the environment and plugin files to values.
  'src/log/*-codec.ts',
  'src/log/**/*-record.ts',
  'src/http/**/decode*.ts',
  'src/http/**/*-body.ts',
  'src/plugin/api/plugin.ts',
  'src/plugin/**/load*.ts',
  // Converts a server's response to the type that the caller states.
  'src/sdk/testing-client.ts',
  'src/client/**/decode-*.ts',
  'src/plugin/**/*manifest*.ts',
  'src/command/patch*.ts',
  // Decode rows and checkpoints to values, and the responses in rows to objects.
  'projections/lmdb-*.ts',
  'projections/references/reference-tables.ts',
  'projections/checkpoint.ts',
  'projections/index/index-entries.ts',
  'src/config/config.ts',
  // Extends the responses of requests whose type the caller states.
  'console/pages/objects/table/plugin-columns.ts',
  // The start data of a thread: a structured clone of a typed value.
  'src/server/event-loop/event-loop-worker.ts',
];

/** Time and random values are parameters; only `src/base/clock.ts` reads the time. */
const timeAndChance = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Take a Clock: src/base/clock.ts is the only reader of the time.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Take a Clock: src/base/clock.ts is the only reader of the time.',
  },
  {
    selector: "MemberExpression[object.name='performance'][property.name='now']",
    message: 'Take a Clock: src/base/clock.ts is the only reader of the time.',
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Take random values from node:crypto, or as a parameter.',
  },
  {
    selector: 'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
    message: 'Take a Clock: its `after` starts timers.',
  },
  {
    selector: "ImportDeclaration[source.value=/^(node:)?timers/] ImportSpecifier[imported.name!='setImmediate']",
    message: 'Take a Clock: its `after` starts timers.',
  },
];

const sizes = {
  'max-lines': ['error', { max: 300 }],
  'max-lines-per-function': ['error', { max: 60 }],
  'max-params': ['error', { max: 4 }],
  'max-depth': ['error', { max: 3 }],
  complexity: ['error', { max: 12 }],
};

/** Components are read by their own parser; all files of a project must then name the extension. */
const typed = { projectService: true, tsconfigRootDir: import.meta.dirname, extraFileExtensions: ['.vue'] };

const typeScriptRules = {
  '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
  // Allows `const { removed, ...rest } = whole`, which omits a member.
  '@typescript-eslint/no-unused-vars': [
    'error',
    {
      ignoreRestSiblings: true,
      argsIgnorePattern: '^_',
      varsIgnorePattern: '^_',
      destructuredArrayIgnorePattern: '^_',
    },
  ],
  // Use `type`: any file can add members to an interface.
  '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/strict-boolean-expressions': 'error',
  '@typescript-eslint/explicit-module-boundary-types': 'error',
  // This rule contradicts require-await, which is on: a function without an await is not async.
  '@typescript-eslint/promise-function-async': 'off',
  '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
  'no-restricted-syntax': ['error', ...timeAndChance],
  eqeqeq: 'error',
  ...sizes,
};

export default defineConfig(
  { ignores: ['dist/', 'node_modules/', 'data/', '.tap/', 'docs/', 'plugins/links/dist/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: typed },
    rules: typeScriptRules,
  },
  {
    // A name has one meaning in its scope. A value and a type may share a name.
    files: ['src/**/*.ts', 'projections/**/*.ts', 'reconcilers/**/*.ts', 'plugins/**/*.ts'],
    rules: { '@typescript-eslint/no-shadow': ['error', { builtinGlobals: true, ignoreTypeValueShadow: true }] },
  },
  {
    files: ['console/**/*.vue', 'plugins/*/console/**/*.vue'],
    extends: [tseslint.configs.strictTypeChecked, vue.configs['flat/recommended']],
    languageOptions: { parserOptions: { ...typed, parser: tseslint.parser } },
    rules: {
      ...typeScriptRules,
      // A component's script is a module and its set-up at once.
      'max-lines-per-function': 'off',
      'vue/no-bare-strings-in-template': 'error',
      'vue/no-v-html': 'error',
      // The security policy of the page refuses style attributes.
      'vue/no-static-inline-styles': ['error', { allowBinding: false }],
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/block-order': ['error', { order: ['script', 'template', 'style'] }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/define-macros-order': 'off',
      'vue/require-default-prop': 'off',
      'vue/no-undef-components': ['error', { ignorePatterns: ['RouterView', 'ValueTree'] }],
      'vue/no-unused-refs': 'error',
      'vue/no-root-v-if': 'off',
      // The formatter decides on lines and attributes.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': 'off',
      'vue/html-indent': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/attributes-order': 'off',
    },
  },
  {
    // Pages have no Clock; they take timers and the time from one file, and random values from `crypto`.
    files: ['console/**/*.{ts,vue}'],
    ignores: ['console/server/browser-clock.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [
                '**/src/**',
                '**/dist/**',
                'node:*',
                'ledgerplane/*',
                '!ledgerplane/client',
                '!ledgerplane/console-kit',
                '!ledgerplane/ui',
              ],
              message: 'The console imports ledgerplane/client, ledgerplane/console-kit and ledgerplane/ui only.',
            },
          ],
        },
      ],
    },
  },
  {
    // Front ends of plugins import the kit, as authors outside of this repository do.
    files: ['plugins/*/console/**/*.{ts,vue}'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['../../**', 'node:*', 'ledgerplane/*', '!ledgerplane/client', '!ledgerplane/console-kit'],
              message: 'A front end imports its own files, ledgerplane/console-kit and ledgerplane/client only.',
            },
          ],
        },
      ],
    },
  },
  { files: ['console/server/browser-clock.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['console/*.config.ts'], rules: { 'no-restricted-imports': 'off' } },
  // Vue Router's own way to type `meta` is to add members to an interface.
  {
    files: ['console/features/feature.ts'],
    rules: { '@typescript-eslint/consistent-type-definitions': 'off' },
  },
  { files: ['src/base/clock.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: parsers, rules: { '@typescript-eslint/consistent-type-assertions': 'off' } },
  {
    // Tests work at the edges: they assert decoded values, wait for child processes, and may be long.
    files: ['test/**/*.ts', 'bench/**/*.ts', 'demo/**/*.ts'],
    rules: {
      '@typescript-eslint/consistent-type-assertions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A tap test without an await is still async: its promise marks its end.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // tap's `t.test` returns a promise that tap itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'teardown', 'rejects'], package: 'tap' },
            { from: 'package', name: ['test', 'rejects', 'resolves'], package: '@tapjs/test' },
          ],
        },
      ],
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: "MemberExpression[property.name='resetAndDestroy']", message: 'Call resetSocket (test/support).' },
      ],
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': ['error', { max: 200 }],
      complexity: ['error', { max: 20 }],
    },
  },
  {
    // A project of its own, as an author has it, whose compiler settings resolve ledgerplane from node_modules.
    files: ['plugins/links/**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, project: 'scripts/links-tsconfig.json' } },
    // Plugins have no Clock.
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // A response of `fetch` has no type; node:test awaits its tests itself.
    files: ['plugins/links/test/**/*.ts'],
    rules: {
      '@typescript-eslint/consistent-type-assertions': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['test', 'before', 'after'], package: 'node:test' }] },
      ],
    },
  },
  { files: ['test/support/reset-socket.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.{js,mjs,cjs}'],
    rules: { eqeqeq: 'error', 'no-unused-vars': 'off', ...sizes },
  },
);
