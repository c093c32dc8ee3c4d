import { join } from 'node:path';

import { test, type Test } from 'tap';

import {
  domain,
  manifestYaml,
  moduleText,
  openStage,
  temporaryFolder,
  writePlugins,
  type Stage,
} from './host-stage.ts';

const goods = 'goods.goods.example';
const once = `plugin.${domain}/create-once`;

function starter(name: string, color: string): string {
  return (
    `apiVersion: goods.example/v1\nkind: Goods\nmetadata:\n  name: ${name}\n  annotations:\n` +
    `    plugin.\${domain}/create-once: 'true'\nspec:\n  color: ${color}\n`
  );
}

type Place = { readonly root: string; readonly dataDir: string };

async function placed(t: Test, yaml: string): Promise<Place> {
  const folder = await temporaryFolder(t);
  const place = { root: join(folder, 'plugins'), dataDir: join(folder, 'data') };
  await ship(place, yaml, {
    'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
    'main.mjs': moduleText('goods'),
  });
  return place;
}

async function ship({ root }: Place, yaml: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  await writePlugins(root, { good: { ...files, 'extensions/goods.yaml': yaml } });
}

async function open(t: Test, { root, dataDir }: Place): Promise<Stage> {
  const stage = await openStage(t, { dataDir, extra: [root] });
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  return stage;
}

async function remove(stage: Stage, name: string): Promise<void> {
  await stage.write(goods, { type: 'delete', name, preconditions: {} });
  if (stage.object(goods, name) !== undefined) throw new Error(`${name} is not deleted`);
}

test('starter content is created at the first start, and not again after a user deletes it', async (t) => {
  const place = await placed(t, starter('first', 'red'));
  const first = await open(t, place);
  t.match(first.object(goods, 'first'), { metadata: { annotations: { [once]: 'true' } }, spec: { color: 'red' } });
  await remove(first, 'first');
  await first.close();
  const second = await open(t, place);
  t.equal(second.object(goods, 'first'), undefined);
  await second.close();
});

test('starter content of a later version is created, and present objects are not changed', async (t) => {
  const place = await placed(t, starter('first', 'red'));
  await (await open(t, place)).close();
  await ship(place, `${starter('first', 'blue')}---\n${starter('second', 'green')}`);
  const second = await open(t, place);
  t.match(second.object(goods, 'first'), { spec: { color: 'red' } });
  t.match(second.object(goods, 'second'), { spec: { color: 'green' } });
  const events = await second.events();
  await second.close();
  const third = await open(t, place);
  t.equal(await third.events(), events, 'nothing is written');
  await third.close();
});

test('starter content leaves an object that users created before, and does not create it later', async (t) => {
  const place = await placed(t, '');
  const first = await open(t, place);
  await first.write(goods, { type: 'create', object: { metadata: { name: 'first' }, spec: { color: 'mine' } } });
  await first.close();
  await ship(place, starter('first', 'red'));
  const second = await open(t, place);
  t.same(second.object(goods, 'first')?.['spec'], { color: 'mine' });
  await remove(second, 'first');
  await second.close();
  const third = await open(t, place);
  t.equal(third.object(goods, 'first'), undefined);
  await third.close();
});

test('starter content that existed before a plugin without types is not created after a user deletes it', async (t) => {
  const place = await placed(t, '');
  const first = await open(t, place);
  await first.write(goods, { type: 'create', object: { metadata: { name: 'first' }, spec: { color: 'mine' } } });
  await first.close();
  await writePlugins(place.root, {
    guest: { 'plugin.yaml': manifestYaml('guest'), 'extensions/goods.yaml': starter('first', 'red') },
  });
  const second = await open(t, place);
  t.equal(second.phase('guest'), 'started', second.ready('guest'));
  await remove(second, 'first');
  await second.close();
  const third = await open(t, place);
  t.equal(third.phase('guest'), 'started', third.ready('guest'));
  t.equal(third.object(goods, 'first'), undefined);
  await third.close();
});

test('starter content stays when a later version drops it, and is merged once it is not starter content', async (t) => {
  const place = await placed(t, `${starter('first', 'red')}---\n${starter('second', 'red')}`);
  await (await open(t, place)).close();
  await ship(place, starter('second', 'blue').replace("'true'", "'false'"));
  const second = await open(t, place);
  t.match(second.object(goods, 'first'), { spec: { color: 'red' } });
  t.match(second.object(goods, 'second'), { spec: { color: 'blue' } });
  await remove(second, 'second');
  await second.close();
  const third = await open(t, place);
  t.match(third.object(goods, 'second'), { spec: { color: 'blue' } }, 'created again like any shipped object');
  await third.close();
});

test('another value of the annotation is refused', async (t) => {
  const place = await placed(t, starter('first', 'red').replace("'true'", 'yes'));
  const stage = await openStage(t, { dataDir: place.dataDir, extra: [place.root] });
  t.match(stage.ready('good'), /ObjectsRefused.*create-once must be "true" or "false"/u);
  t.equal(stage.object(goods, 'first'), undefined);
  await stage.close();
});
