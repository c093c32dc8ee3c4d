/** Names read page by page, while others write. */
import { test } from 'tap';

import { markedOf, namesOf } from '../../../reconcilers/platform/platform-reads.ts';
import { namePageObjectsMax } from '../../../src/limits/lists.ts';
import { coreTypes } from '../../access/access-world.ts';
import { PermissionStage } from '../permission-stage.ts';

const count = 2 * namePageObjectsMax + 1;
const roles = coreTypes[0]!;
const everything = { selection: { labels: [], fields: [] }, sort: [] };

const nameOf = (place: number): string => `r${String(place).padStart(5, '0')}`;

test('pages of names contain each remaining object once, through any writes', async (t) => {
  const stage = await PermissionStage.open(t);
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  await Promise.all(names.map(async (name) => stage.create('roles', name, {})));
  t.same(
    [...stage.models.pages(roles.key, everything)].map(({ length }) => length),
    [namePageObjectsMax, namePageObjectsMax, 1],
  );
  t.same([...namesOf(stage.models, roles)].sort(), names);
  t.same([...namesOf(stage.models, coreTypes[1]!)], [], 'a type without objects has none');

  const pages = stage.models.pages(roles.key, everything)[Symbol.iterator]();
  const first = pages.next().value as readonly string[];
  const ahead = names.filter((name) => !first.includes(name));
  const [deleted, behind] = [ahead[3]!, first[3]!];
  for (const name of [deleted, behind]) await stage.mark('roles', name);
  await stage.create('roles', 'late', {});
  const rest: string[] = [];
  for (let page = pages.next(); page.done !== true; page = pages.next()) rest.push(...page.value);
  t.equal(new Set([...first, ...rest]).size, first.length + rest.length, 'none comes twice');
  t.same(
    rest.filter((name) => name !== 'late').sort(),
    ahead.filter((name) => name !== deleted),
  );
});

test('names of marked objects come in pages of one order', async (t) => {
  const stage = await PermissionStage.open(t);
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  await Promise.all(names.map(async (name) => stage.create('roles', name, {}, { finalizers: ['a.example/b'] })));
  const marked = names.slice(1);
  await Promise.all(marked.map(async (name) => stage.mark('roles', name)));
  t.same([...markedOf(stage.models, roles)].sort(), marked);
});
