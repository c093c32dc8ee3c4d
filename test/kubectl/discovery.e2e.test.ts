/** kubectl finds the types of this server, and prints nothing but what was asked for. */
import { test } from 'tap';

import { givenKubectl, noKubectl } from '../support/server/kubectl.ts';

test('kubectl lists groups and resources, and finds core types', { skip: noKubectl }, async (t) => {
  const { run } = await givenKubectl(t);
  const printed = async (args: string): Promise<string> => {
    const { code, out, err } = await run(args);
    t.strictSame([code, err], [0, ''], args);
    return out;
  };
  const groups = (await printed('api-versions')).trim().split('\n');
  for (const version of [
    'v1alpha1',
    'authentication.k8s.io/v1',
    'authorization.k8s.io/v1',
    'audit.svc.run/v1alpha1',
    'plugin.svc.run/v1alpha1',
    'example.com/v1alpha1',
  ])
    t.ok(groups.includes(version), version);
  const rows = (await printed('api-resources --no-headers')).split('\n').map((row) => row.trim().split(/\s{2,}/u));
  for (const row of [
    ['users', 'v1alpha1', 'false', 'User'],
    ['widgets', 'example.com/v1alpha1', 'false', 'Widget'],
    ['selfsubjectreviews', 'authentication.k8s.io/v1', 'false', 'SelfSubjectReview'],
  ])
    t.ok(
      rows.some((each) => each[0] === row[0] && row.every((cell) => each.includes(cell))),
      row.join(' '),
    );
  const widgets = 'api-resources --verbs=list,watch,create,delete,patch,update,get,deletecollection -o name';
  t.match(await printed(widgets), /^widgets\.example\.com$/mu);
  t.notMatch(await printed('api-resources --verbs=list -o name'), /reviews/u);
  t.match(await printed('get users'), /^admin /mu);
  t.match(await printed('get pat -o name'), /^personalaccesstoken\/token-/mu);
  t.match(await printed('get all -o name'), /^plugin\.plugin\.svc\.run\/example$/mu);
  t.notMatch(await printed('get all -o name'), /^(?:user|role|rolebinding|personalaccesstoken|session)\//mu);
  t.strictSame((await printed('api-resources --categories=all -o name')).trim().split('\n').sort(), [
    'comments.content.svc.run',
    'plugins.plugin.svc.run',
    'posts.content.svc.run',
    'widgets.example.com',
  ]);
  t.match(await printed('get user admin -o name'), /^user\/admin$/mu);
  t.match(await printed('get users.v1alpha1. -o name'), /^user\/admin$/mu);
  t.match(await printed('version -o json'), /"gitVersion": "v1\.35\.0\+ledgerplane\./u);
});
