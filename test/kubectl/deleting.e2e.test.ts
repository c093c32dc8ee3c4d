import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, runSteps, gizmo } from '../support/server/kubectl-gizmos.ts';

const settings = { skip: noKubectl, timeout: 120_000 };
const k = 'gizmo.kube.example';

test('kubectl deletes, and waits for finalizers', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('k1.json', gizmo('k1'));
  await kubectl.file('f1.json', gizmo('f1'));
  const finalizers = (list: readonly string[]): string =>
    `patch gizmo f1 --type=merge -p '${JSON.stringify({ metadata: { finalizers: list } })}'`;
  await runSteps(t, kubectl, [
    { run: 'create -f k1.json', out: `${k}/k1 created` },
    { run: 'delete gizmo k1 --dry-run=server', out: /"k1" deleted \(server dry run\)/u },
    { run: 'delete gizmo k1', out: `${k} "k1" deleted` },
    { run: 'delete gizmo k1', code: 1, err: /NotFound.*"k1" not found/u },
    { run: 'delete gizmo k1 --ignore-not-found' },
    { run: 'create -f f1.json', out: `${k}/f1 created` },
    { run: finalizers(['test.example/hold']), out: `${k}/f1 patched` },
    { run: 'delete gizmo f1 --wait=false', out: `${k} "f1" deleted` },
    { run: `get gizmo f1 -o 'jsonpath={.metadata.deletionTimestamp}'`, out: /^\d{4}-/u },
    { run: finalizers(['test.example/hold', 'test.example/more']), code: 1, err: /no new finalizers can be added/u },
    { run: 'delete gizmo f1 --timeout=1s', code: 1, out: /"f1" deleted/u, err: /timed out waiting/u },
    { run: finalizers([]), out: `${k}/f1 patched` },
    { run: 'get gizmo f1', code: 1, err: /NotFound/u },
  ]);
});

test('kubectl deletes by selector, by cascade and all', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  for (const [name, labels] of [
    ['k1', { a: 'b' }],
    ['k2', {}],
    ['k3', { a: 'b' }],
    ['k4', {}],
    ['k5', {}],
    ['k6', {}],
  ] as const) {
    await kubectl.file(`${name}.json`, gizmo(name, 1, labels));
    await kubectl.run(`create -f ${name}.json`);
  }
  await runSteps(t, kubectl, [
    { run: 'delete gizmos -l a=b', out: /^(?:gizmo\.kube\.example "k[13]" deleted\n){2}$/u },
    { run: 'delete gizmo k2 --cascade=foreground', out: `${k} "k2" deleted` },
    { run: 'delete gizmo k4 --cascade=orphan', out: `${k} "k4" deleted` },
    { run: 'delete gizmo k5 --now', out: `${k} "k5" deleted` },
    { run: 'delete gizmos --all', out: `${k} "k6" deleted` },
    { run: 'get gizmos', err: 'No resources found' },
  ]);
});
