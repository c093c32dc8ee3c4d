import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, runSteps, gizmo } from '../support/server/kubectl-gizmos.ts';

test('kubectl finds every type, by each of its names', { skip: noKubectl, timeout: 120_000 }, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('k1.json', gizmo('k1'));
  await runSteps(t, kubectl, [
    { run: 'api-resources', out: /^gizmos +gz +kube\.example\/v1 +false +Gizmo$/mu },
    { run: 'api-resources', out: /^users +\S* *v1alpha1 +false +User$/mu },
    { run: 'api-versions', out: /^kube\.example\/v1$/mu },
    { run: 'api-versions', out: /^v1alpha1$/mu },
    {
      run: 'api-resources --api-group=kube.example -o name --verbs=list,watch,create,delete,patch,update,get',
      out: 'gizmos.kube.example',
    },
    { run: 'api-resources -o wide', out: /selfsubjectreviews .*create/u },
    { run: 'get --raw /readyz', out: 'ok' },
    { run: 'version -o json', out: /"gitVersion": "v1\.35\.0\+ledgerplane\.\d/u },
    { run: 'version', out: /Server Version: v1\.35\.0\+ledgerplane/u },
    { run: 'get nosuchthing', code: 1, err: /the server doesn't have a resource type "nosuchthing"/u },
    { run: 'create -f k1.json', out: 'gizmo.kube.example/k1 created' },
    { run: 'get gz k1 -o name', out: 'gizmo.kube.example/k1' },
    { run: 'get gz/k1 -o name', out: 'gizmo.kube.example/k1' },
    { run: 'get gizmos.v1.kube.example/k1 -o name', out: 'gizmo.kube.example/k1' },
    { run: 'get gadgets -o name', out: 'gizmo.kube.example/k1' },
    { run: 'get users -o name', out: /^user\/admin$/mu },
    { run: 'get users', out: /^NAME .*AGE\n(?:.*\n)*admin /u },
    { run: 'get roles.v1alpha1. super-role -o name', out: 'role/super-role' },
    { run: 'get gizmos -n elsewhere -o name', out: 'gizmo.kube.example/k1' },
    { run: 'get gizmos -A -o name', out: 'gizmo.kube.example/k1' },
  ]);
});

test('explain describes the members of a type', { skip: noKubectl, timeout: 120_000 }, async (t) => {
  const kubectl = await givenGizmos(t);
  await runSteps(t, kubectl, [
    { run: 'explain gizmo', out: /KIND: +Gizmo\nVERSION: +v1\n[\s\S]*A gizmo of the tests\.[\s\S]*spec\t/u },
    { run: 'explain gizmo.spec', out: /The desired state\.[\s\S]*size\t<integer> -required-\n *How large it is\./u },
    { run: 'explain gizmo.metadata.labels', out: /KIND: +Gizmo/u },
    { run: 'explain gizmo --recursive', out: /conditions\t/u },
    { run: 'explain user.spec', out: /KIND: +User/u },
    { run: 'explain user.spec.password', out: /Never returned; unchanged/u },
    { run: 'explain selfsubjectreview', out: /KIND: +SelfSubjectReview[\s\S]*status\t<Object>\n *The result\./u },
    { run: 'explain selfsubjectaccessreviews.spec.resourceAttributes', out: /verb\t<string> -required-/u },
    { run: 'explain subjectaccessreviews.spec.user', out: /The name of the user\./u },
    { run: 'explain selfsubjectrulesreviews.status', out: /incomplete\t<boolean>/u },
    { run: 'explain gizmo.spec.nothing', code: 1, out: /^GROUP:/u, err: /field "nothing" does not exist/u },
  ]);
});
