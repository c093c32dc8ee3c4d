import { test } from 'tap';

import { givenKubectl, noKubectl, type Kubectl } from '../support/server/kubectl.ts';

async function given(t: Parameters<typeof givenKubectl>[0]): Promise<Kubectl> {
  const kubectl = await givenKubectl(t);
  for (const [index, name] of ['k1', 'k2', 'k3'].entries())
    await kubectl.file(`${name}.json`, {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      metadata: { name, labels: { a: name === 'k2' ? 'c' : 'b' } },
      spec: { title: `Title of ${name}`, size: 3 - index },
    });
  const { code, err } = await kubectl.run('create --validate=false -f .');
  if (code !== 0) throw new Error(err);
  return kubectl;
}

/** The words of each line. */
function lines(out: string): readonly (readonly string[])[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/u));
}

const age = /^\d+s$/u;

test('kubectl prints the columns of the server', { skip: noKubectl }, async (t) => {
  const kubectl = await given(t);
  const print = async (args: string) => {
    const { code, out, err } = await kubectl.run(args);
    t.equal(code, 0, `${args}: ${err}`);
    return lines(out);
  };
  const header = ['NAME', 'TITLE', 'SIZE', 'PHASE', 'AGE'];
  t.match(await print('get widgets --sort-by=.metadata.name'), [
    header,
    ['k1', 'Title of k1', '3', age],
    ['k2', 'Title of k2', '2', age],
    ['k3', 'Title of k3', '1', age],
  ]);
  t.match(await print('get widgets --sort-by=.spec.size'), [header, ['k3'], ['k2'], ['k1']]);
  t.match(await print('get widgets -o wide k1'), [header, ['k1', 'Title of k1', '3', age]]);
  t.match(await print('get widgets k2 --show-labels'), [
    [...header, 'LABELS'],
    ['k2', 'Title of k2', '2', age, 'a=c'],
  ]);
  t.match(await print('get widgets -l a=b --label-columns=a --sort-by=.metadata.name'), [
    [...header, 'A'],
    ['k1', 'Title of k1', '3', age, 'b'],
    ['k3', 'Title of k3', '1', age, 'b'],
  ]);
  t.match(await print('get widgets --field-selector=metadata.name=k2 --no-headers'), [['k2', 'Title of k2']]);
  const paged = await print('get widgets --chunk-size=1');
  t.strictSame(paged.map(([name]) => name).sort(), ['NAME', 'k1', 'k2', 'k3']);
  t.strictSame((await print('get widgets --chunk-size=1 -o name')).length, 3);
  t.match(await kubectl.run('get widgets -l a=none'), { code: 0, out: '', err: /No resources found/u });
});

test('kubectl get -w prints each change as a row', { skip: noKubectl }, async (t) => {
  const kubectl = await given(t);
  const patch = async (name: string, size: number) => {
    const body = JSON.stringify({ spec: { size } });
    const { code, err } = await kubectl.run(`patch widget ${name} --type=merge -p '${body}'`);
    t.equal(code, 0, err);
  };
  const all = kubectl.start('get widgets -w');
  await all.until(/k1 .*\n/u);
  const one = kubectl.start('get widgets k2 -w');
  await one.until(/k2 .*\n/u);
  await patch('k1', 7);
  await patch('k2', 8);
  t.match(
    await all.until(/ 8 .*\n/u),
    /^NAME +TITLE +SIZE +PHASE +AGE\n(?:k\d .*\n){3}k1 +Title of k1 +7 .*\nk2 .*\n$/u,
  );
  t.match(await one.until(/ 8 .*\n/u), /^NAME.*\nk2 +Title of k2 +2 .*\nk2 +Title of k2 +8 .*\n$/u);
  await all.stop();
  await one.stop();
});
