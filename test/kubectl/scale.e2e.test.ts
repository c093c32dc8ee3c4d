/** kubectl finds types by short name and category, and scales what has a scale. */
import { test } from 'tap';

import { givenKubectl, noKubectl } from '../support/server/kubectl.ts';
import { scaledPlugins } from '../http/scale/scaled-plugin.ts';

test('kubectl scales objects, and finds them by short name and category', { skip: noKubectl }, async (t) => {
  const { run, file } = await givenKubectl(t, await scaledPlugins(t));
  const printed = async (args: string): Promise<string> => {
    const { code, out, err } = await run(args);
    t.strictSame([code, err], [0, ''], args);
    return out;
  };
  const object = (kind: string, name: string) => ({
    apiVersion: 'farm.example/v1',
    kind,
    metadata: { name },
    spec: { replicas: 1 },
  });
  // A List of v1 is what `kubectl get -o json` writes.
  const items = [object('Flock', 'geese'), object('Nest', 'twig'), object('Egg', 'white')];
  await file('objects.json', { apiVersion: 'v1', kind: 'List', items });
  await printed('create --validate=false -f objects.json');
  const replicas = async (): Promise<string> => printed("get flk geese -o 'jsonpath={.spec.replicas}'");
  t.equal(await printed('scale flock geese --replicas=3'), 'flock.farm.example/geese scaled\n');
  t.equal(await replicas(), '3');
  t.equal(await printed('scale --current-replicas=3 --replicas=0 flk/geese'), 'flock.farm.example/geese scaled\n');
  t.equal(await replicas(), '0');
  const stale = await run('scale --current-replicas=3 --replicas=5 flock/geese');
  t.match([stale.code, stale.err], [1, /Expected replicas to be 3, was 0/u]);
  t.match(await printed('scale flock geese --replicas=9 --dry-run=server'), /geese scaled \(server dry run\)/u);
  t.equal(await replicas(), '0');
  t.match(await printed('get flock geese --subresource=scale -o json'), /"kind": "Scale"/u);
  const tooMany = await run('scale flock geese --replicas=101');
  t.match([tooMany.code, tooMany.err], [1, /geese" is invalid: spec\.replicas/u]);
  t.match((await run('scale egg white --replicas=2')).err, /could not find the requested resource/u);
  t.equal(await printed('get birds -o name'), 'flock.farm.example/geese\nnest.farm.example/twig\n');
  t.match(
    await printed('api-resources --categories=birds --no-headers'),
    /^flocks +fl,flk +farm\.example\/v1 .*\nnests/u,
  );
  // Of two types with one short name, kubectl takes the first in the order of discovery, and says so.
  const shared = await run('get fl -o name');
  t.equal(shared.out, 'flock.farm.example/geese\n');
  t.match(shared.err, /short name "fl" could also match lower priority resource nests/u);
});
