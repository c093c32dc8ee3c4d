import { join } from 'node:path';

import { test, type Test } from 'tap';

import { RuleTargets, targetOfPath, targetsOfType } from '../../../src/plugin/objects/rule-targets.ts';
import {
  domain,
  manifestYaml,
  moduleText,
  openStage,
  temporaryFolder,
  untilCondition,
  writePlugins,
  type Stage,
} from './host-stage.ts';

type ShippedRule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs?: readonly string[];
};

const route = {
  more: 'routes: [{ method: "GET", path: "/apis/api.goods.example/v1/sum/{name}/parts", handler() {} }]',
};

/** A plugin with the type goods and one route, which ships a role with these rules. */
function good(rules: readonly ShippedRule[]): Readonly<Record<string, string>> {
  return {
    'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
    'main.mjs': moduleText('goods', route),
    'extensions/role.yaml': JSON.stringify({
      apiVersion: 'v1alpha1',
      kind: 'Role',
      metadata: { name: 'good-view', labels: { [`${domain}/role-template`]: 'true' } },
      rules: rules.map((rule) => ({ verbs: ['get'], ...rule })),
    }),
  };
}

function later(): Readonly<Record<string, string>> {
  return { 'plugin.yaml': manifestYaml('later', { main: 'main.mjs' }), 'main.mjs': moduleText('lates') };
}

async function opened(
  t: Test,
  rules: readonly ShippedRule[],
): Promise<{ readonly stage: Stage; readonly root: string }> {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good: good(rules) });
  return { stage: await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] }), root };
}

function unmatchedIn(stage: Stage): string | undefined {
  return stage.conditions('good').find(({ type }) => type === 'RulesUnmatched')?.message;
}

test('a rule that names nothing is a condition and a log line, and the plugin starts', async (t) => {
  const { stage } = await opened(t, [
    { apiGroups: ['goods.example'], resources: ['goods', 'gods', 'good/goods/status'] },
    { apiGroups: ['goods.exmaple'], resources: ['goods'] },
    { apiGroups: ['goods.example'], resources: ['goode/goods/status'] },
    { apiGroups: ['', 'api.goods.example'], resources: ['roles', 'sum/parts', 'sum/patrs'] },
  ]);
  t.match(stage.ready('good'), /^Started/u);
  const parts = [
    'good-view rules.0.resources.1: gods of goods.example names no type and no route',
    'good-view rules.1.apiGroups.0: no type or route has the group "goods.exmaple"; did you mean "goods.example"?',
    'good-view rules.2.resources.0: goode/goods/status: no type or route belongs to a plugin goode; did',
    'good-view rules.3.resources.2: sum/patrs of the core group, api.goods.example names no type and no route',
  ];
  for (const part of parts) t.ok(unmatchedIn(stage)?.includes(part), part);
  t.notMatch(unmatchedIn(stage), /rules\.[0-3]\.resources\.0: (?:goods|roles) /u);
  t.match(
    stage.logLines.filter(({ message: text }) => text === 'plugin started with a warning'),
    [{ level: 'warn', fields: { plugin: 'good', notice: 'RulesUnmatched', message: unmatchedIn(stage) } }],
  );
  await stage.close();
});

test('the condition follows the plugins that start and stop', async (t) => {
  const { stage, root } = await opened(t, [{ apiGroups: ['lates.example'], resources: ['later/lates'] }]);
  t.match(unmatchedIn(stage), /good-view rules\.0\.apiGroups\.0: no type or route has the group "lates\.example"/u);
  await writePlugins(root, { later: later() });
  await untilCondition(stage, 'later', (_ready, phase) => phase === 'started');
  await stage.host.settled();
  t.equal(unmatchedIn(stage), undefined);
  await stage.setEnabled('later', false);
  await stage.host.settled();
  t.match(unmatchedIn(stage), /"lates\.example"/u);
  await stage.close();
});

test('a rule may have any form of entry, and wildcards match anything', async (t) => {
  const targets = new RuleTargets([
    ...targetsOfType({ group: 'goods.example', plural: 'goods' }, 'good'),
    ...(['sum', 'sum/{name}/parts', '{all}/x/last'] as const).flatMap(
      (path) => targetOfPath(`/apis/api.goods.example/v1/${path}`, 'good') ?? [],
    ),
  ]);
  const unmatched = (apiGroups: readonly string[], ...resources: readonly string[]): readonly string[] =>
    targets
      .unmatched({ kind: 'resource', apiGroups, resources, resourceNames: undefined, verbs: ['get'] })
      .map(({ pointer }) => pointer);
  t.same(
    unmatched(['goods.example'], 'goods', 'goods/status', '*', '*/history', 'goods/*', 'good/goods', 'good/*'),
    [],
  );
  t.same(unmatched(['api.goods.example'], 'sum', 'sum/parts', 'any/last', 'good/sum/parts'), []);
  t.same(unmatched(['*'], 'goods', 'sum', 'nothing'), ['/resources/2']);
  t.same(unmatched(['goods.example'], 'goods/parts', 'other/goods', 'good/goods/status/more'), [
    '/resources/0',
    '/resources/1',
    '/resources/2',
  ]);
  t.same(unmatched(['goods.example', 'missing'], 'unknown'), ['/apiGroups/1'], 'a missing group may have the resource');
  t.same(unmatched([], 'goods'), []);
  t.equal(targetOfPath('/livez', 'platform'), undefined);
});

test('the roles of the platform and of the bundled plugins name only what exists', async (t) => {
  const bundled = join(import.meta.dirname, '../../../plugins');
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), bundled: [bundled] });
  for (const plugin of ['content', 'example'])
    t.same(
      stage.conditions(plugin).filter(({ type }) => type === 'RulesUnmatched'),
      [],
      plugin,
    );
  await stage.close();
});
