/**
 * Allowed imports. Inner rings know nothing of outer ones:
 *
 *   pure ← ports ← services ← adapters (never each other) ← root
 *
 * A change to this file is a design decision: its commit says why. `dependencies.test.ts` runs it, and proves each rule
 * on a tree that breaks it on purpose.
 */
const pure = '^src/((base|resource|command|access|limits|openapi|audit/proof)/|config/eventstore-(url|prefix)\\.ts$)';
/** Trees, proofs and signatures: the server makes them, and the command line verifies them without a server. */
const proof = '^src/audit/proof/';
const ports = '^src/(log/[^/]+\\.ts$|read/|plugin/api/)';
const registry = '^src/plugin/registry/type-registry\\.ts$';
const services = '^src/((audit|auth|watch|write|log-tools)/|plugin/registry/type-registry\\.ts$)';
/** What a front end imports: a file on its own, which the program itself has no use for. */
const ui = '^src/sdk/ui\\.ts$';
/** What front ends of plugins import to be checked and built; the program itself has no use for it. */
const consoleKit = '^src/sdk/console/';
/** What plugins' tests import: it starts a server, and no server knows it. */
const harness = '^src/sdk/testing(-client)?\\.ts$';
/** The module to which `ledgerplane/plugin` resolves in plugins. It is loaded by its URL. */
const recording = '^src/plugin/errors/recording-api\\.ts$';
/** The client: programs and pages import it, and it runs where nothing of the server is. */
const client = '^src/client/';
/** What runs steps, one at a time for each key. It knows no objects, and no server. */
const controllers =
  '^reconcilers/(controller|delayed-keys|failure-lines|outcome|reconcile-limits|reconcile-slots|' +
  'plugins/plugin-outcome)\\.ts$';
const root = '^src/(main\\.ts$|server/|sdk/|log-tools/log-(commands|location)\\.ts$)';
const ours = '^(src|projections|reconcilers|plugins)/';
/** What a pure file may take from outside: computations without input or output, and the events of this process. */
const computations =
  '^(node:)?(buffer|crypto|events)$|node_modules/(fast-json-patch|ajv|ajv-formats|@marcbachmann/cel-js|re2js)/';

const only = (name, from, ...may) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: root },
  to: { path: ours, pathNot: [from, ...may] },
});
const home = (name, from, pkg) => ({
  name,
  severity: 'error',
  from: { pathNot: [from, '^(test|bench|demo)/', 'node_modules'] },
  to: { path: `node_modules/(@types/)?${pkg}/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: { path: ours }, to: { circular: true } },
    {
      name: 'no-dead-file',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: {
        path: '^(src|projections|reconcilers)/',
        pathNot: [ui, consoleKit, harness, client, recording],
        reachable: false,
      },
    },
    { name: 'no-missing-file', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'pure-does-no-io',
      severity: 'error',
      from: { path: pure },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: computations },
    },
    only('base-is-the-leaf', '^src/base/'),
    only('proofs-know-only-base', proof, '^src/base/'),
    { name: 'ui-stands-alone', severity: 'error', from: { path: ui }, to: {} },
    only(
      'client-knows-only-pure-modules',
      client,
      '^src/base/(clock|guards)\\.ts$',
      '^src/plugin/api/plugin\\.ts$',
      controllers,
    ),
    {
      name: 'client-in-browsers-has-no-controllers',
      severity: 'error',
      from: { path: client, pathNot: '^src/client/node/' },
      to: { path: '^reconcilers/' },
    },
    {
      name: 'client-runs-in-browsers',
      severity: 'error',
      from: { path: client, pathNot: '^src/client/node/' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'] },
    },
    {
      name: 'client-knows-no-node',
      severity: 'error',
      from: { path: client, pathNot: '^src/client/node/' },
      to: { path: '^src/client/node/' },
    },
    {
      name: 'no-server-knows-the-client',
      severity: 'error',
      from: { path: ours, pathNot: [client, '^src/sdk/'] },
      to: { path: client },
    },
    // Revisions and stream names are words of the pure ring too; the file that defines them knows only `base`.
    only('pure-points-inward', pure, '^src/log/log\\.ts$'),
    only('log-words-are-a-leaf', '^src/log/log\\.ts$', '^src/base/'),
    only('ports-know-only-pure', ports, pure),
    // `plugin.ts` is the one entry to its parts, for plugins and for the rest of the platform.
    {
      name: 'plugin-api-has-one-entry',
      severity: 'error',
      from: { pathNot: '^(src/plugin/api/(plugin\\.ts$|public/)|test/)' },
      to: { path: '^src/plugin/api/public/' },
    },
    only('services-use-ports', services, pure, ports),
    only('log-adapters-stand-alone', '^src/log/', pure, ports),
    only('plugin-adapters-use-services', '^src/plugin/', pure, ports, services),
    only('config-reads-limits', '^src/config/', pure),
    only('http-uses-services', '^src/http/', pure, ports, services),
    // The command line asks a server that runs, perhaps elsewhere: of this one's insides it knows the settings, how a
    // schema is read as a type, how a proof is verified, and no more.
    only(
      'command-line-asks-over-http',
      '^src/cli/',
      '^src/config/',
      '^src/(base|limits)/',
      '^src/openapi/schema/typed-part\\.ts$',
      proof,
      '^src/audit/keys/key-statement\\.ts$',
    ),
    only('projections-only-fold', '^projections/', pure, ports, registry),
    only('reconcilers-read-and-command', '^reconcilers/', pure, ports, registry, '^src/write/execute\\.ts$'),
    only('plugins-import-the-plugin-api', '^plugins/', '^src/plugin/api/plugin\\.ts$'),
    home('one-home-for-koa', '^src/http/', '(koa|@koa)'),
    home('one-home-for-ws', '^src/http/', 'ws'),
    home('one-home-for-archives', '^src/plugin/packages/package-(tar|zip)\\.ts$', '(tar|yauzl)'),
    home('one-home-for-multipart', '^src/http/body/read-upload\\.ts$', '@fastify/busboy'),
    home('one-home-for-protobuf', '^src/http/', 'protobufjs'),
    home('one-home-for-certificates', '^src/server/tls/issue-certificate\\.ts$', '(pkijs|asn1js)'),
    home('one-home-for-rules', '^src/resource/rules/', '(@marcbachmann/cel-js|re2js)'),
    home('one-home-for-commander', '^src/cli/', 'commander'),
    home('one-home-for-lmdb', '^(src/log/lmdb/|projections/lmdb-|projections/audit/audit-)', 'lmdb'),
    home('one-home-for-eventstore', '^src/log/eventstore/', '@eventstore/db-client'),
    // The protocol underneath is the driver's own affair; the server that tests speak to is made of it.
    home('no-home-for-grpc', '^(test|bench|demo)/', '(@grpc|google-protobuf)'),
    {
      name: 'no-server-knows-the-harness',
      severity: 'error',
      from: { path: ours, pathNot: harness },
      to: { path: harness },
    },
    { name: 'tests-are-not-shipped', severity: 'error', from: { path: ours }, to: { path: '^(test|bench|demo)/' } },
    {
      name: 'dev-packages-are-not-shipped',
      severity: 'error',
      from: { path: '^(src|projections|reconcilers)/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg'],
        dependencyTypesNot: ['type-only', 'npm'],
        pathNot: 'node_modules/@types/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Projects of their own, which import this package by its name.
    exclude: { path: '^plugins/(links|[^/]+/console)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
