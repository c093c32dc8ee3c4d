import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, gizmo, runSteps } from '../support/server/kubectl-gizmos.ts';

/** kubectl's own remark about every type without namespaces. */
const unscoped = "Warning: resource 'gizmos' is not namespace scoped in group 'kube.example'";

test('kubectl asks for rights', { skip: noKubectl, timeout: 120_000 }, async (t) => {
  const kubectl = await givenGizmos(t);
  await runSteps(t, kubectl, [
    { run: 'auth can-i get gizmos', out: 'yes', err: unscoped },
    { run: 'auth can-i patch gizmos --subresource=status', out: 'yes', err: unscoped },
    { run: 'auth can-i get /metrics', out: 'yes' },
    { run: 'auth can-i --list', out: /^Resources +Non-Resource URLs +Resource Names +Verbs\n/u },
    { run: 'auth whoami', out: /^Username +admin$/mu },
    { run: 'auth whoami -o json', out: /"username": "admin"/u },
    {
      run: 'get gizmos --as=somebody',
      code: 1,
      err: 'Error from server (Forbidden): impersonation is not supported',
    },
    {
      run: 'create -f - --as=somebody',
      input: gizmo('as'),
      code: 1,
      err: /^Error from server \(Forbidden\): [^\n]*impersonation is not supported\n$/u,
    },
    { run: 'get gizmos --token=wrong', code: 1, err: /[Uu]nauthorized|must be logged in/u },
  ]);
});
