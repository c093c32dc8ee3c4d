import { test } from 'tap';

import { noKubectl } from '../support/server/kubectl.ts';
import { givenGizmos, runSteps, gizmo } from '../support/server/kubectl-gizmos.ts';

const settings = { skip: noKubectl, timeout: 120_000 };
const k = 'gizmo.kube.example';

test('kubectl creates', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('k1.json', gizmo('k1'));
  await kubectl.file('large.json', gizmo('large', 1_000));
  await kubectl.file('odd.json', gizmo('odd', 1, {}, { colour: 'red' }));
  await kubectl.file('bad.json', gizmo('Bad_Name'));
  await kubectl.file('both.json', gizmo('both', 1_000, {}, { colour: 'red' }));
  await kubectl.file('generated.json', {
    apiVersion: 'kube.example/v1',
    kind: 'Gizmo',
    metadata: { generateName: 'gen-' },
    spec: { size: 1 },
  });
  await runSteps(t, kubectl, [
    { run: 'create -f k1.json', out: `${k}/k1 created` },
    { run: 'create -f k1.json', code: 1, err: /^Error from server \(AlreadyExists\): .*"k1" already exists/u },
    { run: 'create -f large.json --validate=false', code: 1, err: /^The Gizmo "large" is invalid: spec\.size: /u },
    { run: 'create -f odd.json', code: 1, err: /unknown field "spec\.colour"/u },
    {
      run: 'create -f both.json --validate=warn',
      code: 1,
      err: /^Warning: unknown field "spec\.colour"\nThe Gizmo "both" is invalid: spec\.size: /u,
    },
    {
      run: 'create -f odd.json --validate=warn',
      out: `${k}/odd created`,
      err: 'Warning: unknown field "spec.colour"',
    },
    {
      run: 'create -f odd.json --validate=warn',
      code: 1,
      err: /^Warning: unknown field "spec\.colour"\nError from server \(AlreadyExists\)/u,
    },
    { run: 'create -f bad.json', code: 1, err: /is invalid: metadata\.name: /u },
    { run: 'create -f generated.json', out: /^gizmo\.kube\.example\/gen-[a-z0-9]{5} created\n$/u },
    { run: 'create -f - --dry-run=server', input: gizmo('dry'), out: `${k}/dry created (server dry run)` },
    { run: 'get gizmo dry', code: 1, err: /NotFound/u },
  ]);
});

test('kubectl applies a folder, shows what would change, and says what did', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('a1.json', gizmo('a1'));
  await kubectl.file('a2.yaml', `apiVersion: kube.example/v1\nkind: Gizmo\nmetadata: {name: a2}\nspec: {size: 2}\n`);
  await runSteps(t, kubectl, [
    { run: 'apply -f .', out: `${k}/a1 created\n${k}/a2 created` },
    { run: 'apply -f .', out: `${k}/a1 unchanged\n${k}/a2 unchanged` },
    { run: 'diff -f .' },
  ]);
  await kubectl.file('a1.json', gizmo('a1', 5, { x: 'y' }));
  await runSteps(t, kubectl, [
    { run: 'diff -f a1.json', code: 1, out: /^-  size: 1\n\+  size: 5$/mu },
    {
      run: 'apply -f . --dry-run=server',
      out: `${k}/a1 configured (server dry run)\n${k}/a2 unchanged (server dry run)`,
    },
    { run: 'apply -f .', out: `${k}/a1 configured\n${k}/a2 unchanged` },
    { run: `get gizmo a1 -o 'jsonpath={.spec.size} {.metadata.labels.x}'`, out: '5 y' },
    { run: 'apply view-last-applied gizmo a1', out: /size: 5/u },
    { run: 'apply -f a1.json --server-side', code: 1, err: /Server-side apply not available on the server/u },
    { run: 'diff -f -', input: gizmo('new', 1), code: 1, out: /^\+kind: Gizmo$/mu },
    { run: 'delete -f .', out: `${k} "a1" deleted\n${k} "a2" deleted` },
  ]);
  const diff = await kubectl.run('diff -f a1.json');
  t.notMatch(diff.out, /^-[^-]/mu, 'nothing is removed where nothing is');
});

test('the resource version stays in a diff', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('a1.json', gizmo('a1'));
  await kubectl.run('apply -f a1.json');
  await kubectl.file('a1.json', gizmo('a1', 5));
  const { out } = await kubectl.run('diff -f a1.json');
  t.match(out, /size: 5/u);
  t.notMatch(out, /^[+-] +(?:resourceVersion|uid|creationTimestamp)/mu);
});

test('kubectl patches, labels, annotates, edits, replaces and scales', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  const { run } = kubectl;
  await kubectl.file('k1.json', gizmo('k1'));
  const patched = `${k}/k1 patched`;
  await runSteps(t, kubectl, [
    { run: 'create -f k1.json', out: `${k}/k1 created` },
    { run: `patch gizmo k1 --type=merge -p '{"spec":{"size":7}}'`, out: patched },
    { run: `patch gizmo k1 --type=merge -p '{"spec":{"size":7}}'`, out: `${patched} (no change)` },
    { run: `patch gizmo k1 --type=json -p '[{"op":"replace","path":"/spec/size","value":8}]'`, out: patched },
    { run: `get gizmo k1 -o 'jsonpath={.spec.size}'`, out: '8' },
    { run: `patch gizmo k1 -p '{"spec":{"size":9}}'`, code: 1, err: /merge-patch\+json|not supported/u },
    {
      run: `patch gizmo k1 --type=json -p '[{"op":"test","path":"/spec/size","value":1}]'`,
      code: 1,
      err: 'The Gizmo "k1" is invalid: patch: operation 0: test of "/spec/size" failed',
    },
    { run: `patch gizmo k1 --subresource=status --type=merge -p '{"status":{"phase":"up"}}'`, out: patched },
    { run: `get gizmo k1 --subresource=status -o 'jsonpath={.status.phase}'`, out: 'up' },
    { run: 'label gizmo k1 x=y', out: `${k}/k1 labeled` },
    { run: 'label gizmo k1 x=z', code: 1, err: /'x' already has a value \(y\), and --overwrite is false/u },
    { run: 'label gizmo k1 x=z --overwrite', out: `${k}/k1 labeled` },
    { run: 'label gizmo k1 x-', out: `${k}/k1 unlabeled` },
    { run: 'annotate gizmo k1 note=hello', out: `${k}/k1 annotated` },
    { run: 'label gizmos --all all=yes', out: `${k}/k1 labeled` },
    { run: 'scale gizmo k1 --replicas=3', out: `${k}/k1 scaled` },
    { run: `get gizmo k1 -o 'jsonpath={.spec.replicas}'`, out: '3' },
    { run: 'scale gizmo k1 --current-replicas=9 --replicas=4', code: 1, err: /Expected replicas to be 9, was 3/u },
    { run: 'scale gizmo k1 --replicas=-1', code: 1, err: /replicas/u },
  ]);
  const generation = `get gizmo k1 -o 'jsonpath={.metadata.generation}'`;
  const before = (await run(generation)).out;
  await run('label gizmo k1 later=yes');
  t.equal((await run(generation)).out, before, 'a label changes no generation');
});

test('kubectl replaces with the version it read, and a stale one is a conflict', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  const { run } = kubectl;
  await kubectl.file('k1.json', gizmo('k1'));
  await run('create -f k1.json');
  await kubectl.file('read.json', (await run('get gizmo k1 -o json')).out);
  await runSteps(t, kubectl, [
    { run: 'replace -f read.json', out: `${k}/k1 replaced` },
    { run: 'label gizmo k1 x=y', out: `${k}/k1 labeled` },
    { run: 'replace -f read.json', code: 1, err: /^Error from server \(Conflict\)/u },
    { run: 'replace -f k1.json', out: `${k}/k1 replaced` },
    { run: 'replace --force -f k1.json', out: `${k} "k1" deleted\n${k}/k1 replaced` },
  ]);
});

test('an object is edited as text', settings, async (t) => {
  const kubectl = await givenGizmos(t);
  await kubectl.file('k1.json', gizmo('k1'));
  await kubectl.file('editor.sh', '#!/bin/sh\nsed -i "s/size: 1/size: 42/" "$1"\n');
  await runSteps(t, kubectl, [
    { run: 'create -f k1.json', out: `${k}/k1 created` },
    { run: 'edit gizmo k1', out: `${k}/k1 edited` },
    { run: `get gizmo k1 -o 'jsonpath={.spec.size}'`, out: '42' },
  ]);
});
