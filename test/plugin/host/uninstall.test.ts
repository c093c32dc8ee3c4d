/** An interrupted uninstall, resumed by any node: the name is free afterwards, and no declared object is left. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import { roleKey } from '../../../src/auth/types/platform-types.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { Lead } from '../../reconcilers/controller-stage.ts';
import {
  domain,
  manifestYaml,
  mergePatch,
  moduleText,
  openStage,
  temporaryFolder,
  untilCondition,
  writePlugins,
  type PluginFiles,
  type Stage,
  type StageOptions,
} from './host-stage.ts';

t.setTimeout(240_000);
const plugins = `plugins.plugin.${domain}`;
const goods = 'goods.goods.example';
const good = {
  'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
  'main.mjs': moduleText('goods'),
  'extensions/goods.yaml': ['one', 'two']
    .map((name) => `---\napiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: ${name}}\nspec: {color: red}\n`)
    .join(''),
};

/** A node with a collector, which dies at a given write: of it and all later ones nothing comes. */
class UninstallStage {
  readonly stage: Stage;
  readonly #collector: Collector;

  private constructor(stage: Stage, lead: Lead) {
    this.stage = stage;
    const { reader, registry, execute } = stage;
    this.#collector = new Collector({
      changes: reader,
      reader,
      execute,
      bound: new ReconcileSlots(systemClock),
      leadership: lead,
      clock: systemClock,
      uuid: randomUUID,
      onError: (error) => {
        throw error;
      },
      types: (key) => registry.byKey(key)?.type,
      serving: () =>
        registry
          .all()
          .filter(({ serving }) => serving)
          .map(({ type }) => type),
    });
    registry.subscribe(({ type }, change) => {
      if (change === 'serving') this.#collector.enqueueAll(type);
    });
    this.#collector.open();
  }

  static async open(t: Test, options: StageOptions, lead = new Lead()): Promise<UninstallStage> {
    return new UninstallStage(await openStage(t, { ...options, leadership: lead }), lead);
  }

  /** Until nobody has anything to do. */
  async settle(): Promise<void> {
    const { stage } = this;
    for (let position = -1n; position !== stage.reader.position();) {
      position = stage.reader.position();
      await stage.host.settled();
      await this.#collector.idle();
      for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    }
  }

  async close(): Promise<void> {
    await this.#collector.stop();
    await this.stage.close();
  }
}

/** `left` writes are done, then the process is as good as dead. */
function dyingAfter(left: { writes: number; isDead: boolean }): (execute: Execute) => Execute {
  return (execute) => async (type, command, context) => {
    if (left.writes <= 0) {
      left.isDead = true;
      throw new Error('killed');
    }
    left.writes -= 1;
    return execute(type, command, context);
  };
}

type Given = { readonly root: string; readonly dataDir: string };

async function given(t: Test, files: PluginFiles = { good }): Promise<Given> {
  const root = await temporaryFolder(t);
  await writePlugins(root, files);
  return { root, dataDir: await temporaryFolder(t) };
}

async function deleted(stage: Stage, deleteData: boolean): Promise<void> {
  await stage.write(plugins, mergePatch('good', { spec: { deleteData } }));
  await stage.write(plugins, { type: 'delete', name: 'good', preconditions: {} });
}

/** The content of the tables, whether or not the type is served. */
function left(stage: Stage, type: string): readonly string[] {
  return stage.reader.namesOf(type as never, { after: undefined, limit: 100 });
}

for (const [deleteData, isFolderGone] of [
  [false, true],
  [true, false],
] as const) {
  test(`stopped at each write, deleteData ${String(deleteData)}, folder deleted ${String(isFolderGone)}`, async (t) => {
    let isDone = false;
    for (let writes = 0; !isDone; writes += 1) {
      const { root, dataDir } = await given(t);
      const first = await openStage(t, { dataDir, extra: [root] });
      await first.write(goods, {
        type: 'create',
        object: { metadata: { name: 'own', finalizers: ['goods.example/held'] }, spec: { color: 'blue' } },
      });
      await first.write(goods, mergePatch('two', { metadata: { finalizers: ['goods.example/held'] } }));
      await first.close();
      if (isFolderGone) await rm(join(root, 'good'), { recursive: true });
      const state = { writes: Infinity, isDead: false };
      const dying = await UninstallStage.open(t, { dataDir, extra: [root], guard: dyingAfter(state) });
      state.writes = writes;
      await deleted(dying.stage, deleteData);
      await dying.settle();
      isDone = !state.isDead;
      await dying.close();
      if (isFolderGone) await rm(join(root, 'good'), { recursive: true, force: true });
      // What lies in a folder is discovered anew once it is gone: the next node finds no folder.
      const next = await UninstallStage.open(t, { dataDir });
      await next.settle();
      t.strictSame(left(next.stage, plugins), [], `after ${String(writes)} writes the name is free`);
      t.strictSame(
        left(next.stage, goods),
        deleteData ? [] : ['own'],
        `after ${String(writes)} writes nothing declared is left`,
      );
      t.strictSame(next.stage.host.plugins(), []);
      await next.close();
    }
  });
}

test('a failed plugin with objects of an earlier version is uninstalled as well', async (t) => {
  const { root, dataDir } = await given(t);
  await (await openStage(t, { dataDir, extra: [root] })).close();
  await writePlugins(root, { good: { 'main.mjs': 'throw new Error("broken");' } });
  const node = await UninstallStage.open(t, { dataDir, extra: [root] });
  t.equal(node.stage.phase('good'), 'failed');
  await deleted(node.stage, true);
  await node.settle();
  t.strictSame([left(node.stage, plugins), left(node.stage, goods)], [[], []]);
  await node.close();
});

test("its objects of another plugin's type are removed, too, and a foreign finalizer is respected", async (t) => {
  const role = (name: string, more = ''): string =>
    `---\napiVersion: v1alpha1\nkind: Role\nmetadata: {name: ${name}${more}}\nrules: []\n`;
  const { root, dataDir } = await given(t, {
    good: { ...good, 'extensions/roles.yaml': role('free') + role('held', ', finalizers: [somebody.example/held]') },
  });
  const node = await UninstallStage.open(t, { dataDir, extra: [root] });
  t.equal(node.stage.phase('good'), 'started', node.stage.ready('good'));
  await deleted(node.stage, false);
  await node.settle();
  t.strictSame([left(node.stage, plugins), left(node.stage, goods)], [[], []]);
  t.strictSame(left(node.stage, roleKey), ['held'], 'marked, and kept by its finalizer');
  t.match(node.stage.object(roleKey, 'held'), { metadata: { deletionTimestamp: String } });
  await node.close();
});

test('an object written during the uninstall is kept, and the uninstall ends at once', async (t) => {
  const { root, dataDir } = await given(t);
  let isHeld = false;
  const stages: Stage[] = [];
  const node = await UninstallStage.open(t, {
    dataDir,
    extra: [root],
    onLoaded: async (stage) => {
      stages.push(stage);
      await stage.host.start();
    },
    guard: (execute) => async (type, command, context) => {
      const isLast = type.key === plugins && command.type === 'patch' && command.part === 'main';
      // Between its reading of the object and its writing.
      if (isLast && !isHeld) {
        isHeld = true;
        await stages[0]?.write(plugins, mergePatch('good', { metadata: { labels: { seen: 'meanwhile' } } }));
      }
      return execute(type, command, context);
    },
  });
  await deleted(node.stage, false);
  await node.settle();
  t.ok(isHeld);
  t.strictSame([left(node.stage, plugins), left(node.stage, goods)], [[], []]);
  t.strictSame(
    node.stage.logLines.filter(({ level }) => level === 'error'),
    [],
  );
  await node.close();
});

test('a plugin declared again after its removal is a new one, and runs alone', async (t) => {
  const { root, dataDir } = await given(t);
  const node = await UninstallStage.open(t, { dataDir, extra: [root] });
  for (let round = 0; round < 3; round += 1) {
    const isGone = new Promise<void>((resolve) => {
      const unsubscribe = node.stage.reader.subscribe(({ changes }) => {
        if (!changes.some(({ type, kind }) => type === plugins && kind === 'deleted')) return;
        unsubscribe();
        resolve();
      });
    });
    await deleted(node.stage, false);
    await isGone;
    await node.stage.write(plugins, { type: 'create', object: { metadata: { name: 'good' }, spec: {} } });
    await node.settle();
    t.equal(node.stage.phase('good'), 'started', node.stage.ready('good'));
    t.strictSame(node.stage.registry.all().filter(({ type, serving }) => type.key === goods && serving).length, 1);
    t.strictSame(left(node.stage, goods), ['one', 'two']);
    t.match(node.stage.object(plugins, 'good'), { metadata: { finalizers: [`plugin.${domain}/uninstall`] } });
  }
  await node.close();
});

test('its folder is left untouched and keeps the name; new files or a new object bring it back', async (t) => {
  const { root, dataDir } = await given(t, { good, twin: good });
  const node = await UninstallStage.open(t, { dataDir, extra: [root] });
  const { stage } = node;
  t.match(stage.ready('twin'), /^NameTaken: /);
  const out = async (): Promise<void> => {
    await deleted(stage, false);
    await node.settle();
    // It looks at the folders anew.
    t.ok(await stage.host.hasFolder('good'));
    await node.settle();
    t.strictSame(left(stage, plugins), ['twin'], 'nor does the other folder take its name');
    t.match(stage.ready('twin'), /^NameTaken: /);
  };
  await out();
  await stage.write(plugins, { type: 'create', object: { metadata: { name: 'good' }, spec: {} } });
  await node.settle();
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  t.strictSame(left(stage, goods), ['one', 'two']);
  await out();
  await writePlugins(root, { good: { 'main.mjs': `${moduleText('goods')}// mended` } });
  await untilCondition(stage, 'good', (_ready, phase) => phase === 'started');
  await node.settle();
  t.strictSame(left(stage, goods), ['one', 'two']);
  await out();
  await rm(join(root, 'twin'), { recursive: true });
  await rm(join(root, 'good'), { recursive: true });
  t.notOk(await stage.host.hasFolder('good'), 'the name is free at once');
  await node.settle();
  t.strictSame(left(stage, plugins), ['twin'], 'one that is taken away is not made anew');
  t.match(stage.ready('twin'), /^FolderMissing: no folder of PLUGINS_DIRS contains this plugin/);
  await writePlugins(root, { good });
  await untilCondition(stage, 'good', (_ready, phase) => phase === 'started');
  await node.close();
});

test('deleted at each write of its start', async (t) => {
  const state = { isDone: false };
  const isDone = (): boolean => state.isDone;
  for (let writes = 0; !isDone(); writes += 1) {
    const { root, dataDir } = await given(t);
    let stage: Stage | undefined;
    let count = 0;
    state.isDone = true;
    const node = await UninstallStage.open(t, {
      dataDir,
      extra: [root],
      onLoaded: async (loaded) => {
        stage = loaded;
        await loaded.host.start();
      },
      guard: (execute) => async (type, command, context) => {
        const outcome = await execute(type, command, context);
        count += 1;
        // The object is there from the first write on.
        if (count === writes + 1 && stage !== undefined) {
          state.isDone = false;
          await deleted(stage, true);
        }
        return outcome;
      },
    });
    if (!isDone()) {
      await node.settle();
      t.strictSame(
        [left(node.stage, plugins), left(node.stage, goods)],
        [[], []],
        `after ${String(writes)} writes of its start`,
      );
      t.notOk(node.stage.registry.all().some(({ type }) => type.key === goods));
      t.strictSame(node.stage.host.plugins(), []);
    }
    await node.close();
  }
});

test('two nodes: leadership changes at each write', async (t) => {
  const state = { isDone: false };
  for (let writes = 0; !state.isDone; writes += 1) {
    const { root, dataDir } = await given(t);
    const leads = [new Lead(), new Lead(false)] as const;
    const budget = { writes: Infinity };
    state.isDone = true;
    const first = await UninstallStage.open(
      t,
      {
        dataDir,
        extra: [root],
        guard: (execute) => async (type, command, context) => {
          if (budget.writes <= 0 && leads[0].isLeader()) {
            state.isDone = false;
            leads[0].give(false);
            leads[1].give(true);
          }
          budget.writes -= 1;
          return execute(type, command, context);
        },
      },
      leads[0],
    );
    const second = await UninstallStage.open(
      t,
      { dataDir: await temporaryFolder(t), extra: [root], log: first.stage.log },
      leads[1],
    );
    await first.stage.write(goods, {
      type: 'create',
      object: { metadata: { name: 'own', finalizers: ['goods.example/held'] }, spec: { color: 'blue' } },
    });
    budget.writes = writes;
    await deleted(first.stage, true);
    const both = async (): Promise<void> => {
      for (
        let position = -1n;
        position !== first.stage.reader.position() || position !== second.stage.reader.position();
      ) {
        position = first.stage.reader.position();
        await Promise.all([first.settle(), second.settle()]);
      }
    };
    await both();
    for (const { stage } of [first, second]) {
      t.strictSame(
        [left(stage, plugins), left(stage, goods)],
        [[], []],
        `the lead went after ${String(writes)} writes`,
      );
      t.strictSame(stage.host.plugins(), []);
      t.notOk(stage.registry.all().some(({ type }) => type.key === goods));
    }
    await second.close();
    await first.close();
  }
});

/** Somebody comes to a door and waits there until it is opened. */
class Door {
  #arrive = (): void => undefined;
  #open = (): void => undefined;
  readonly arrival = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });
  readonly #opening = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  async wait(): Promise<void> {
    this.#arrive();
    await this.#opening;
  }

  open(): void {
    this.#open();
  }
}

async function settled(...nodes: readonly UninstallStage[]): Promise<void> {
  const positions = (): string => nodes.map(({ stage }) => stage.reader.position()).join();
  for (let before = ''; before !== positions();) {
    before = positions();
    await Promise.all(nodes.map(async (node) => node.settle()));
  }
}

function isWhole(t: Test, { stage }: UninstallStage, when: string): void {
  t.strictSame(left(stage, goods), ['one', 'own', 'two'], when);
  for (const name of ['one', 'own', 'two'])
    t.notMatch(stage.object(goods, name), { metadata: { deletionTimestamp: String } }, `${name}, ${when}`);
  t.match(
    stage.object(plugins, 'good'),
    { metadata: { finalizers: [`plugin.${domain}/uninstall`] }, status: { phase: 'started' } },
    when,
  );
  t.strictSame(stage.host.plugins(), [{ name: 'good', phase: 'started', failure: undefined }], when);
}

const own = async (stage: Stage): Promise<void> =>
  stage.write(goods, {
    type: 'create',
    object: { metadata: { name: 'own', finalizers: ['goods.example/held'] }, spec: { color: 'blue' } },
  });

test('two nodes: a plugin declared again while the old leader still removes is left alone', async (t) => {
  let isDone = false;
  for (let writes = 0; !isDone; writes += 1) {
    const { root, dataDir } = await given(t);
    const leads = [new Lead(), new Lead(false)] as const;
    const budget = { writes: Infinity };
    const door = new Door();
    const first = await UninstallStage.open(
      t,
      {
        dataDir,
        extra: [root],
        guard: (execute) => async (type, command, context) => {
          if (budget.writes === 0) await door.wait();
          budget.writes -= 1;
          return execute(type, command, context);
        },
      },
      leads[0],
    );
    const second = await UninstallStage.open(
      t,
      { dataDir: await temporaryFolder(t), extra: [root], log: first.stage.log },
      leads[1],
    );
    await own(first.stage);
    budget.writes = writes;
    await deleted(first.stage, true);
    isDone = await Promise.race([door.arrival.then(() => false), first.settle().then(() => true)]);
    if (!isDone) {
      leads[0].give(false);
      leads[1].give(true);
      await settled(second);
      t.strictSame([left(second.stage, plugins), left(second.stage, goods)], [[], []]);
      await second.stage.write(plugins, { type: 'create', object: { metadata: { name: 'good' }, spec: {} } });
      await settled(second);
      await own(second.stage);
      door.open();
      await settled(first, second);
      for (const node of [first, second]) isWhole(t, node, `held at write ${String(writes)}`);
    }
    await second.close();
    await first.close();
  }
});
