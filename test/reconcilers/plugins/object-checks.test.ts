import { test, type Test } from 'tap';

import { ObjectChecks } from '../../../reconcilers/plugins/object-checks.ts';
import { invalidReportMs } from '../../../src/limits/plugins.ts';
import { limitedRuns } from '../../../src/plugin/packages/limited-steps.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { body, create, merge, remove, widgets, widgetType } from '../../support/given.ts';
import { Leading } from '../../support/leading.ts';
import { shown, Writing } from '../../support/writing.ts';

/** A stricter version: every widget needs a size. */
const sized = widgetType({
  schema: {
    ...widgets.schema,
    properties: {
      spec: {
        type: 'object',
        required: ['title', 'size'],
        properties: { title: { type: 'string' }, size: { type: 'integer' } },
      },
    },
  },
});

type Validate = (
  object: { readonly metadata: { readonly name: string }; readonly spec: { readonly title?: string } },
  old: object | undefined,
  context: { readonly operation: string; readonly user: { readonly name: string } },
) => unknown;

/** A version with a hook. */
function hooked(validate: Validate): ResourceType {
  return widgetType({ hooks: { validate } });
}

type Stage = {
  readonly writing: Writing;
  readonly checks: ObjectChecks;
  readonly leadership: Leading;
  readonly registry: TypeRegistry;
  readonly reports: string[];
  readonly serve: (type: ResourceType) => Promise<void>;
};

async function stageOf(t: Test, mayBreak: (type: ResourceType) => boolean = () => true): Promise<Stage> {
  const writing = await Writing.open(t);
  const { models, clock } = writing;
  const [registry, leadership, reports] = [new TypeRegistry(), new Leading(true), new Array<string>()];
  const checks = new ObjectChecks({
    rows: models,
    changes: models,
    registry,
    leadership,
    clock,
    mayBreak,
    isHeld: () => false,
    limited: limitedRuns,
    onError: (error) => {
      reports.push(String(error));
    },
  });
  checks.subscribe((plugin) => {
    reports.push(plugin);
  });
  t.teardown(async () => checks.stop());
  const serve = async (type: ResourceType): Promise<void> => {
    registry.remove(type.key);
    await writing.declare(type);
    registry.register(type);
    registry.serve(type.key);
    await checks.idle();
  };
  registry.register(widgets);
  checks.open();
  registry.serve(widgets.key);
  await checks.idle();
  return { writing, checks, leadership, registry, reports, serve };
}

async function fill(writing: Writing, names: readonly string[]): Promise<void> {
  for (const name of names) shown(await writing.write(create(body({ metadata: { name } }))));
}

test('objects that break the schema of a new version are counted, and the first is named', async (t) => {
  const { writing, checks, serve, reports } = await stageOf(t);
  await fill(writing, ['c', 'a', 'b']);
  t.same(checks.of('example'), []);
  await serve(sized);
  const first = { name: 'a', pointer: '/spec/size', detail: 'is required' };
  t.same(checks.of('example'), [{ type: sized.key, count: 3, first }]);
  t.same(checks.of('other'), []);
  writing.clock.advance(invalidReportMs);
  t.same(reports, ['example'], 'one report for all');

  shown(await writing.write(merge({ spec: { size: 1 } }, { name: 'a' })));
  shown(await writing.write(merge({ metadata: { labels: { team: 'x' } } }, { name: 'c' })));
  await checks.idle();
  t.same(checks.of('example'), [{ type: sized.key, count: 2, first: { ...first, name: 'b' } }], 'c is still invalid');
  shown(await writing.write(remove({}, 'b')));
  shown(await writing.write(merge({ spec: { size: 1 } }, { name: 'c' })));
  await checks.idle();
  t.same(checks.of('example'), []);
});

test('only the leader checks, and a new leader begins anew', async (t) => {
  const { writing, checks, serve, leadership } = await stageOf(t);
  leadership.lead(false);
  await fill(writing, ['a']);
  await serve(sized);
  t.same(checks.of('example'), []);
  leadership.lead(true);
  await checks.idle();
  t.match(checks.of('example'), [{ count: 1 }]);
  leadership.lead(false);
  t.same(checks.of('example'), []);
});

test('a type that is removed has no result, and a type that cannot break is not checked', async (t) => {
  const { writing, checks, serve, registry } = await stageOf(t);
  await fill(writing, ['a']);
  await serve(sized);
  registry.remove(sized.key);
  t.same(checks.of('example'), []);
  const stage = await stageOf(t, () => false);
  await fill(stage.writing, ['a']);
  await stage.serve(sized);
  t.same(stage.checks.of('example'), []);
});

test('objects that the hook validate of a new version refuses are counted, whoever wrote them', async (t) => {
  const { writing, checks, serve } = await stageOf(t);
  await fill(writing, ['a', 'b', 'c']);
  shown(await writing.write(merge({ spec: { title: 'Bad' } }, { name: 'b' })));
  await serve(
    hooked(({ metadata, spec }, old, { operation, user }) => {
      if (metadata.name === 'c') throw new Error(`no ${metadata.name}`);
      return [
        ...(spec.title === 'Bad' ? [{ pointer: '/spec/title', detail: 'is bad' }] : []),
        ...(operation === 'create' ? [{ pointer: '/spec', detail: 'must be written by its owner' }] : []),
        ...(old !== undefined && user.name !== 'root' ? [{ pointer: '', detail: 'must not change' }] : []),
      ];
    }),
  );
  const bad = { name: 'b', pointer: '/spec/title', detail: 'is bad (the hook "validate")' };
  t.match(checks.of('example'), [{ count: 2, first: bad }], 'judgements of the change and the writer do not count');
  shown(await writing.write(remove({}, 'b')));
  await checks.idle();
  t.match(checks.of('example'), [
    { count: 1, first: { name: 'c', pointer: '', detail: /"validate" .* threw: no c$/, trace: /Error: no c\n/ } },
  ]);
});

test('a hook that does not return for a stored object ends the check, and the object is named', async (t) => {
  const { writing, checks, serve } = await stageOf(t);
  await fill(writing, ['a', 'b', 'c']);
  await serve(
    hooked(({ metadata }) => {
      for (; metadata.name === 'b';);
      return [];
    }),
  );
  t.match(checks.of('example'), [{ count: 1, first: { name: 'b', detail: /did not return within 5 s/ } }]);
});
