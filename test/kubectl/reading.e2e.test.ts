import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, runSteps, gizmo } from '../support/server/kubectl-gizmos.ts';

const k = 'gizmo.kube.example';

test('kubectl reads what the server stores', { skip: noKubectl, timeout: 120_000 }, async (t) => {
  const kubectl = await givenGizmos(t);
  await runSteps(t, kubectl, [{ run: 'get gizmos', err: 'No resources found' }]);
  await kubectl.file('all.json', {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      gizmo('k1', 1, { a: 'b', tier: 'x' }, { color: 'red' }),
      gizmo('k2', 2, { a: 'b', c: 'd' }, { color: 'blue' }),
      gizmo('k3', 3, { a: 'z', tier: 'y' }),
    ],
  });
  await runSteps(t, kubectl, [
    { run: 'create -f all.json', out: /^(?:gizmo\.kube\.example\/k\d created\n){3}$/u },
    { run: 'get gizmos', rows: ['NAME SIZE AGE', 'k1 1 …', 'k2 2 …', 'k3 3 …'] },
    { run: 'get gizmos -o wide', rows: ['NAME SIZE COLOR AGE', 'k1 1 red …', 'k2 2 blue …', 'k3 3 …'] },
    { run: 'get gizmos k1', rows: ['NAME SIZE AGE', 'k1 1 …'] },
    { run: 'get gizmos k1 k3', rows: ['NAME SIZE AGE', 'k1 1 …', 'k3 3 …'] },
    { run: 'get gizmos --no-headers --show-labels -l tier', rows: ['k1 1 … a=b,tier=x', 'k3 3 … a=z,tier=y'] },
    { run: 'get gizmos -L tier --no-headers k1', rows: ['k1 1 … x'] },
    { run: 'get gizmos --sort-by=.spec.size -o name', out: `${k}/k1\n${k}/k2\n${k}/k3` },
    { run: 'get gizmos --sort-by=.metadata.name --show-labels', out: /^NAME +SIZE +AGE +LABELS\nk1 .*\nk2 .*\nk3 /u },
    { run: 'get gizmos --chunk-size=1 -o name', rows: [`${k}/k1`, `${k}/k2`, `${k}/k3`] },
    { run: 'get gizmos --chunk-size=1', rows: ['NAME SIZE AGE', 'k1 1 …', 'k2 2 …', 'k3 3 …'] },
    { run: `get gizmos -o name -l 'a=b,c!=d'`, out: 'gizmo.kube.example/k1' },
    { run: `get gizmos -o name -l 'a in (z,q)'`, out: 'gizmo.kube.example/k3' },
    { run: `get gizmos -o name -l 'a notin (z),tier,!c'`, out: 'gizmo.kube.example/k1' },
    { run: `get gizmos -l 'a in b'`, code: 1, err: /unable to parse requirement|BadRequest/u },
    { run: 'get gizmos -o name --field-selector metadata.name=k2', out: 'gizmo.kube.example/k2' },
    { run: 'get gizmos -o name --field-selector spec.color=red', out: 'gizmo.kube.example/k1' },
    { run: 'get gizmos --field-selector spec.nosuch=1', code: 1, err: /field label not supported: spec\.nosuch/u },
    { run: `get gizmo k1 -o 'jsonpath={.metadata.uid} {.metadata.resourceVersion}'`, out: /^[0-9a-f-]{36} \d+$/u },
    { run: `get gizmo k1 -o 'jsonpath={.metadata.version} {.metadata.generation}'`, out: /^\d+ 1$/u },
    { run: `get gizmos -o 'custom-columns=N:.metadata.name,S:.spec.size'`, rows: ['N S', 'k1 1', 'k2 2', 'k3 3'] },
    {
      run: 'get gizmos -o yaml',
      out: /^apiVersion: v1\nitems:\n- apiVersion: kube\.example\/v1\n[\s\S]*kind: List\n/u,
    },
    { run: 'get gizmo nope', code: 1, err: 'Error from server (NotFound): gizmos.kube.example "nope" not found' },
    { run: 'get gizmo nope --ignore-not-found' },
    { run: 'describe gizmo k1', out: /Kind: +Gizmo\n[\s\S]*Size: +1\n[\s\S]*Events: +<none>/u },
    { run: 'get --raw /apis/kube.example/v1/gizmos/k1', out: /"kind":"Gizmo"/u },
    { run: 'get users,gizmos -o name', out: /user\/admin\n[\s\S]*gizmo\.kube\.example\/k1/u },
  ]);
});
