import { test } from 'tap';

import { checkPermissions } from '../../projections/replay/check-permissions.ts';
import type { TableContents } from '../../projections/permissions/table-contents.ts';
import { domain } from '../access/access-world.ts';
import { PermissionStage } from '../projections/permission-stage.ts';

const atOnce = { isOver: () => true, next: async (): Promise<void> => Promise.resolve() };

async function stage(t: Parameters<typeof PermissionStage.open>[0]): Promise<PermissionStage> {
  const opened = await PermissionStage.open(t);
  await opened.create('roles', 'reader', { rules: [] });
  await opened.create('roles', 'writer', { rules: [{ apiGroups: [''], resources: ['users'], verbs: ['get'] }] });
  for (const name of ['ann', 'bob']) await opened.create('users', name, { spec: {} });
  await opened.create('rolebindings', 'all', {
    roleRef: { kind: 'Role', name: 'reader' },
    subjects: ['ann', 'bob'].map((name) => ({ kind: 'User', name })),
  });
  opened.tables.load();
  return opened;
}

test('permission tables that say what the objects say have no difference, while these change', async (t) => {
  const opened = await stage(t);
  const { models, tables } = opened;
  let [slices, created] = [0, 0];
  const whileWriting = {
    isOver: () => true,
    next: async (): Promise<void> => {
      slices += 1;
      if (slices % 3 !== 0 || created === 4) return;
      created += 1;
      await opened.create('users', `late-${String(created)}`, { spec: {} });
      await opened.change('rolebindings', 'all', { subjects: [{ kind: 'User', name: `late-${String(created)}` }] });
    },
  };
  t.equal(await checkPermissions({ live: tables, reader: models, feed: models, domain }, whileWriting), undefined);
  t.equal(created, 4, 'objects changed meanwhile');
});

test('an entry of the permission tables that is wrong, missing or too many is named', async (t) => {
  const { models, tables } = await stage(t);
  const changed = (table: string, change: (entries: Map<string, unknown>) => void): TableContents[] =>
    tables.contents().map((contents) => {
      if (contents.table !== table) return contents;
      const copy = new Map([...contents.entries.keys()].map((key) => [key, contents.entries.get(key)]));
      change(copy);
      return { table, entries: copy };
    });
  const cases: readonly (readonly [table: string, change: (entries: Map<string, unknown>) => void, key: string])[] = [
    ['users', (users) => users.set('ann', { name: 'ann', uid: 'x', isDisabled: false }), 'ann'],
    ['users', (users) => users.delete('bob'), 'bob'],
    ['users', (users) => users.set('eve', { name: 'eve' }), 'eve'],
    ['roles of users', (roles) => roles.set('ann', ['reader', 'super-role']), 'ann'],
    ['bindings to roles', (bindings) => bindings.set('reader', new Set()), 'reader'],
    ['roles', (roles) => roles.delete('writer'), 'writer'],
  ];
  for (const [table, change, key] of cases) {
    const live = { contents: () => changed(table, change) };
    const found = await checkPermissions({ live, reader: models, feed: models, domain }, atOnce);
    t.match(found, { table: `permissions: ${table}`, key }, `${table} ${key}`);
  }
});
