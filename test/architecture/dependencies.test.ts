import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from './repository.ts';

const folders = ['src', 'projections', 'reconcilers', 'plugins', 'test', 'bench', 'demo'];

const isSource = (from: string): boolean => folders.some((folder) => from.startsWith(`${folder}/`));

type Violation = { readonly rule: { readonly name: string }; readonly from: string; readonly to: string };

/** Runs dependency-cruiser with the project's rules on the sources under `folder`. */
async function violationsIn(folder: string): Promise<readonly Violation[]> {
  const cruiser = join(repository, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const rules = join(repository, 'test', 'architecture', 'dependency-rules.cjs');
  const present = folders.filter((name) => existsSync(join(folder, name)));
  const args = [cruiser, '--config', rules, '--output-type', 'json', ...present];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1_048_576 });
  const { summary } = JSON.parse(stdout) as {
    readonly summary: { readonly totalCruised: number; readonly violations: readonly Violation[] };
  };
  if (summary.totalCruised === 0) throw new Error(`nothing was cruised in ${folder}`);
  return summary.violations;
}

test('the sources keep to the rings', async (t) => {
  const violations = await violationsIn(repository);
  t.strictSame(
    violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    [],
  );
});

/** Each file of a small tree that breaks nothing: path → imports, both from the root of the tree. */
const sound: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': ['src/server/serve.ts', 'src/cli/program.ts', 'src/config/config.ts'],
  'src/server/serve.ts': ['src/server/server.ts', 'src/config/config.ts'],
  'src/cli/program.ts': ['commander', 'src/config/config.ts', 'src/limits/settings.ts', 'src/base/clock.ts'],
  'src/sdk/ui.ts': [],
  'src/sdk/testing.ts': ['src/server/server.ts', 'src/plugin/api/plugin.ts'],
  'src/client/client.ts': ['src/client/watch.ts', 'src/plugin/api/plugin.ts'],
  'src/client/watch.ts': ['src/base/clock.ts'],
  'src/client/node/node.ts': ['src/client/client.ts', 'node:https'],
  'src/server/server.ts': [
    'src/http/app.ts',
    'src/log/lmdb/lmdb-log.ts',
    'src/log/eventstore/eventstore-log.ts',
    'src/plugin/lifecycle/runtime.ts',
    'projections/lmdb-table.ts',
    'reconcilers/queue.ts',
    'src/watch/hub.ts',
    'src/auth/authorization/authorize.ts',
    'src/config/config.ts',
  ],
  'src/config/config.ts': ['src/limits/settings.ts', 'src/config/eventstore-url.ts'],
  'src/limits/settings.ts': [],
  'src/limits/objects.ts': [],
  'src/base/clock.ts': [],
  'src/resource/object/object.ts': ['src/base/clock.ts', 'src/limits/objects.ts'],
  'src/command/decide.ts': ['src/resource/object/object.ts', 'src/log/log.ts', 'node:crypto', 'fast-json-patch'],
  'src/log/log.ts': ['src/base/clock.ts'],
  'src/log/event-codec.ts': ['src/log/log.ts', 'src/command/decide.ts'],
  'src/log/lmdb/lmdb-log.ts': ['src/log/log.ts', 'lmdb', 'node:fs'],
  'src/log/eventstore/eventstore-log.ts': ['src/log/log.ts', 'src/config/eventstore-url.ts', '@eventstore/db-client'],
  'src/config/eventstore-url.ts': [],
  'src/audit/proof/merkle.ts': ['src/base/clock.ts', 'node:crypto'],
  'src/read/tree.ts': ['src/audit/proof/merkle.ts', 'src/log/log.ts'],
  'src/read/objects.ts': ['src/resource/object/object.ts', 'src/log/log.ts', 'src/read/tree.ts'],
  'src/auth/authorization/authorize.ts': ['src/read/objects.ts'],
  'src/watch/hub.ts': ['src/read/objects.ts', 'src/auth/authorization/authorize.ts'],
  'src/write/execute.ts': ['src/log/event-codec.ts', 'src/command/decide.ts', 'src/plugin/registry/type-registry.ts'],
  'src/plugin/api/plugin.ts': ['src/plugin/api/public/client.ts', 'src/resource/object/object.ts'],
  'src/plugin/api/public/client.ts': [],
  'src/plugin/registry/type-registry.ts': ['src/resource/object/object.ts'],
  'src/plugin/lifecycle/runtime.ts': [
    'src/plugin/api/plugin.ts',
    'src/plugin/registry/type-registry.ts',
    'src/write/execute.ts',
  ],
  'src/http/app.ts': ['koa', 'ws', 'src/write/execute.ts', 'src/watch/hub.ts'],
  'projections/lmdb-table.ts': ['lmdb', 'src/read/objects.ts', 'src/plugin/registry/type-registry.ts'],
  'reconcilers/queue.ts': ['src/write/execute.ts', 'src/read/objects.ts'],
  'plugins/content/posts.ts': ['src/plugin/api/plugin.ts'],
  'test/hub.test.ts': ['src/watch/hub.ts', 'ws', 'fast-check'],
};

/** One more import each, and the rule that must name it. */
const breaches: readonly (readonly [rule: string, file: string, breach: string])[] = [
  ['no-cycle', 'src/log/log.ts', 'src/log/event-codec.ts'],
  ['no-dead-file', 'src/watch/orphan.ts', 'src/read/objects.ts'],
  ['no-missing-file', 'src/watch/hub.ts', 'src/watch/nowhere.ts'],
  ['pure-does-no-io', 'src/command/decide.ts', 'node:fs'],
  ['pure-does-no-io', 'src/resource/object/object.ts', 'lmdb'],
  ['ui-stands-alone', 'src/sdk/ui.ts', 'src/base/clock.ts'],
  ['client-knows-only-pure-modules', 'src/client/client.ts', 'src/resource/object/object.ts'],
  ['client-knows-only-pure-modules', 'src/client/node/node.ts', 'src/http/app.ts'],
  ['client-runs-in-browsers', 'src/client/watch.ts', 'node:fs'],
  ['client-runs-in-browsers', 'src/client/watch.ts', 'ws'],
  ['client-knows-no-node', 'src/client/watch.ts', 'src/client/node/node.ts'],
  ['no-server-knows-the-client', 'src/server/server.ts', 'src/client/client.ts'],
  ['base-is-the-leaf', 'src/base/clock.ts', 'src/resource/object/object.ts'],
  ['proofs-know-only-base', 'src/audit/proof/merkle.ts', 'src/log/log.ts'],
  ['pure-points-inward', 'src/command/decide.ts', 'src/read/objects.ts'],
  ['pure-points-inward', 'src/resource/object/object.ts', 'src/write/execute.ts'],
  ['log-words-are-a-leaf', 'src/log/log.ts', 'src/resource/object/object.ts'],
  ['ports-know-only-pure', 'src/read/objects.ts', 'src/watch/hub.ts'],
  ['ports-know-only-pure', 'src/plugin/api/plugin.ts', 'src/plugin/lifecycle/runtime.ts'],
  ['services-use-ports', 'src/watch/hub.ts', 'src/log/lmdb/lmdb-log.ts'],
  ['services-use-ports', 'src/write/execute.ts', 'src/http/app.ts'],
  ['services-use-ports', 'src/auth/authorization/authorize.ts', 'src/config/config.ts'],
  ['ports-know-only-pure', 'src/plugin/api/public/client.ts', 'src/plugin/lifecycle/runtime.ts'],
  ['plugin-api-has-one-entry', 'src/plugin/lifecycle/runtime.ts', 'src/plugin/api/public/client.ts'],
  ['plugin-api-has-one-entry', 'plugins/content/posts.ts', 'src/plugin/api/public/client.ts'],
  ['log-adapters-stand-alone', 'src/log/lmdb/lmdb-log.ts', 'src/write/execute.ts'],
  ['plugin-adapters-use-services', 'src/plugin/lifecycle/runtime.ts', 'src/http/app.ts'],
  ['config-reads-limits', 'src/config/config.ts', 'src/write/execute.ts'],
  ['http-uses-services', 'src/http/app.ts', 'projections/lmdb-table.ts'],
  ['http-uses-services', 'src/http/app.ts', 'src/log/lmdb/lmdb-log.ts'],
  ['command-line-asks-over-http', 'src/cli/program.ts', 'src/write/execute.ts'],
  ['command-line-asks-over-http', 'src/cli/program.ts', 'src/resource/object/object.ts'],
  ['http-uses-services', 'src/http/app.ts', 'src/cli/program.ts'],
  ['projections-only-fold', 'projections/lmdb-table.ts', 'src/write/execute.ts'],
  ['reconcilers-read-and-command', 'reconcilers/queue.ts', 'projections/lmdb-table.ts'],
  ['plugins-import-the-plugin-api', 'plugins/content/posts.ts', 'src/write/execute.ts'],
  ['one-home-for-koa', 'src/server/server.ts', 'koa'],
  ['one-home-for-ws', 'src/watch/hub.ts', 'ws'],
  ['one-home-for-commander', 'src/server/server.ts', 'commander'],
  ['one-home-for-archives', 'src/server/server.ts', 'tar'],
  ['one-home-for-certificates', 'src/server/server.ts', 'pkijs'],
  ['one-home-for-protobuf', 'src/server/server.ts', 'protobufjs'],
  ['one-home-for-multipart', 'src/server/server.ts', '@fastify/busboy'],
  ['one-home-for-lmdb', 'src/server/server.ts', 'lmdb'],
  ['one-home-for-lmdb', 'projections/indexes.ts', 'lmdb'],
  ['one-home-for-eventstore', 'src/server/server.ts', '@eventstore/db-client'],
  ['no-home-for-grpc', 'src/log/eventstore/eventstore-log.ts', '@grpc/grpc-js'],
  ['no-server-knows-the-harness', 'src/server/server.ts', 'src/sdk/testing.ts'],
  ['tests-are-not-shipped', 'src/http/app.ts', 'test/hub.test.ts'],
  ['dev-packages-are-not-shipped', 'src/http/app.ts', 'fast-check'],
];

function plant(folder: string, files: Readonly<Record<string, readonly string[]>>): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const importOf = (path: string, from: string): string =>
    isSource(from) ? `./${relative(dirname(path), from)}` : from;
  for (const [path, imports] of Object.entries(files)) {
    write(path, `${imports.map((from) => `import '${importOf(path, from)}';`).join('\n')}\nexport {};\n`);
  }
  const packages = ['koa', 'ws', 'lmdb', 'fast-json-patch', 'commander', '@eventstore/db-client', '@grpc/grpc-js'];
  for (const name of [...packages, 'fast-check']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'main.js' }));
    write(`node_modules/${name}/main.js`, 'module.exports = {};\n');
  }
  const dependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  write(
    'package.json',
    JSON.stringify({ name: 'planted', type: 'module', dependencies, devDependencies: { 'fast-check': '1.0.0' } }),
  );
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { module: 'nodenext', rewriteRelativeImportExtensions: true } }),
  );
}

test('a tree that keeps to the rings passes', async (t) => {
  const folder = t.testdir();
  plant(folder, sound);
  t.strictSame(await violationsIn(folder), []);
});

test('every forbidden import is caught by the rule named for it', async (t) => {
  const folder = t.testdir();
  const broken: Record<string, readonly string[]> = { ...sound };
  for (const [, file, breach] of breaches) broken[file] = [...(broken[file] ?? []), breach];
  plant(folder, broken);
  const violations = await violationsIn(folder);
  for (const [rule, file, breach] of breaches) {
    const target = breach.replace(/^node:/u, '');
    const caught = violations.some(
      (violation) =>
        violation.rule.name === rule &&
        (rule === 'no-dead-file' || rule === 'no-cycle'
          ? [violation.from, violation.to].includes(file)
          : violation.from === file &&
            [violation.to, join(dirname(file), violation.to)].some((to) => to.includes(target))),
    );
    t.ok(caught, `${rule}: ${file} → ${breach}`);
  }
});
