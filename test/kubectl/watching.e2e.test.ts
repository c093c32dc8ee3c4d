import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, runSteps, gizmo } from '../support/server/kubectl-gizmos.ts';

const settings = { skip: noKubectl, timeout: 120_000 };
const k = 'gizmo.kube.example';

test('get -w prints the state once and then each change', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  for (const [name, labels] of [
    ['k1', { a: 'b' }],
    ['k2', {}],
    ['k3', { a: 'b' }],
  ] as const) {
    await kubectl.file(`${name}.json`, gizmo(name, 1, labels));
    await kubectl.run(`create -f ${name}.json`);
  }
  const all = kubectl.start('get gizmos -w');
  const one = kubectl.start('get gizmo k2 -w');
  const selected = kubectl.start('get gizmos -l a=b --watch-only --output-watch-events');
  await all.until(/^(?:k\d .*\n){3}/mu);
  await one.until(/^k2 /mu);
  await runSteps(t, kubectl, [
    { run: `patch gizmo k2 --type=merge -p '{"spec":{"size":21}}'`, out: `${k}/k2 patched` },
    { run: `patch gizmo k2 --type=merge -p '{"spec":{"size":22}}'`, out: `${k}/k2 patched` },
  ]);
  await all.until(/^k2 +22 /mu);
  await one.until(/^k2 +22 /mu);
  // The watch of the selector may begin after these: each pair of changes shows it again.
  for (let seen = ''; !/DELETED +k3[\s\S]*ADDED +k3/u.test(seen);) {
    await kubectl.run('label gizmo k3 a=z --overwrite');
    await kubectl.run('label gizmo k3 a=b --overwrite');
    seen = await selected.until(/^/u);
  }
  t.match((await all.stop()).out, /^NAME +SIZE +AGE\n(?:k[123] +1 .*\n){3}k2 +21 .*\nk2 +22 .*\n/u);
  t.match((await one.stop()).out, /^NAME +SIZE +AGE\nk2 +1 .*\nk2 +21 .*\nk2 +22 .*\n$/u);
  t.match((await selected.stop()).out, /DELETED +k3[\s\S]*ADDED +k3/u);
});

test('wait ends when the condition is met, and not before', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('k1.json', gizmo('k1'));
  const ready = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'up' } });
  await runSteps(t, kubectl, [
    { run: 'create -f k1.json', out: `${k}/k1 created` },
    {
      run: 'wait gizmo/k1 --for=condition=Ready --timeout=1s',
      code: 1,
      err: /timed out waiting for the condition on gizmos\/k1/u,
    },
  ]);
  const condition = kubectl.start('wait gizmo/k1 --for=condition=Ready --timeout=60s');
  await runSteps(t, kubectl, [
    { run: `patch gizmo k1 --subresource=status --type=merge -p '${ready}'`, out: `${k}/k1 patched` },
  ]);
  await condition.until(/k1 condition met/u);
  await runSteps(t, kubectl, [
    { run: `wait gizmo/k1 '--for=jsonpath={.status.phase}=up' --timeout=60s`, out: `${k}/k1 condition met` },
    { run: 'wait gizmo/k1 --for=create --timeout=60s', out: `${k}/k1 condition met` },
  ]);
  const waiting = kubectl.start('wait gizmo/k1 --for=delete --timeout=60s');
  await runSteps(t, kubectl, [{ run: 'delete gizmo k1', out: `${k} "k1" deleted` }]);
  // It prints a line only if it has seen the object.
  t.match(await waiting.ended(), { code: 0, err: '' });
});
