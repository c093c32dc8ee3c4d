import { test, type Test } from 'tap';

import type { MigrationRecord } from '../../../src/plugin/api/migration-mounts.ts';
import { PluginObjects } from '../../../src/plugin/objects/plugin-objects.ts';
import { pluginTypeDeclaration } from '../../../src/plugin/objects/plugin-type.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { domain } from '../../support/sample.ts';
import { Writing } from '../../support/writing.ts';

const name = 'example';
const counts = { objects: 2, visited: 1, changed: 1, failed: 0 };
const running: MigrationRecord = { id: 'a', type: 'widgets.example.com', phase: 'running', ...counts };
const done: MigrationRecord = { ...running, phase: 'done', visited: 2 };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The Plugin objects of a leader and of a deposed one, before the writes of which `meanwhile` happens. */
async function opened(t: Test) {
  const compiled = compileType(pluginTypeDeclaration(domain), { plugin: 'platform', bundled: true, domain });
  if (!compiled.ok) throw new Error(compiled.problems.join());
  const writing = await Writing.open(t, { type: compiled.type });
  const { models: reader, clock, execute } = writing;
  let ids = 0;
  const uuid = (): string => {
    ids += 1;
    return `id-${String(ids)}`;
  };
  const meanwhile: (() => Promise<unknown>)[] = [];
  const delayed: Execute = async (...write) => {
    await meanwhile.shift()?.();
    return execute(...write);
  };
  const objectsBy = (by: Execute): PluginObjects =>
    new PluginObjects(compiled.type, { execute: by, reader, clock, domain, uuid }, silent);
  const [leader, deposed] = [objectsBy(execute), objectsBy(delayed)];
  await writing.settle(leader.ensure(name, undefined, undefined));
  return { writing, leader, deposed, meanwhile };
}

test('a delayed record of a deposed leader does not replace the records of the leader', async (t) => {
  const { writing, leader, deposed, meanwhile } = await opened(t);
  meanwhile.push(async () => leader.recordMigrations(name, [done]));
  t.equal(await writing.settle(deposed.recordMigrations(name, [running])), false);
  t.same(leader.migrations(name), [done]);
});

test('a record is stored although another part of the object changes meanwhile', async (t) => {
  const { writing, leader, deposed, meanwhile } = await opened(t);
  meanwhile.push(async () => leader.recordUpgrade(name, { from: '1.0.0', to: '1.1.0' }));
  t.equal(await writing.settle(deposed.recordMigrations(name, [running])), true);
  t.same(leader.migrations(name), [running]);
});
