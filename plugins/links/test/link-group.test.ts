import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ClientError } from 'ledgerplane/plugin';
import { startPlugin, type PluginTest } from 'ledgerplane/testing';

import { linkGroup } from '../src/link-group.ts';

const path = '/apis/links.example.com/v1alpha1/linkgroups';

/** A real server with this plugin alone. The compiled test is in dist/test. */
let plugin: PluginTest;
before(async () => { plugin = await startPlugin({ folder: new URL('../..', import.meta.url) }); });
after(async () => { await plugin.stop(); });

test('LinkGroup objects are created, found by their title and deleted', async () => {
  await plugin.client.create(linkGroup, { metadata: { name: 'first' }, spec: { title: 'First' } });
  const { items } = await plugin.client.list(linkGroup, { fieldSelector: 'spec.title=First' });
  assert.deepEqual(items.map(({ metadata }) => metadata.name), ['first']);
  await plugin.client.delete(linkGroup, 'first');
  assert.equal(await plugin.client.get(linkGroup, 'first'), undefined);
});

test('an object with an empty title is refused', async () => {
  await assert.rejects(
    plugin.client.create(linkGroup, { metadata: { name: 'untitled' }, spec: { title: '' } }),
    (error) => error instanceof ClientError && error.status === 422,
  );
});

test('the roles allow to view and to manage linkgroups', async () => {
  const body = { metadata: { name: 'second' }, spec: { title: 'Second' } };
  const viewer = await plugin.as('viewer', { roles: ['links-linkgroups-view'] });
  assert.equal((await viewer.fetch(path)).status, 200);
  assert.equal((await viewer.fetch(path, { method: 'POST', body })).status, 403);
  const manager = await plugin.as('manager', { roles: ['links-linkgroups-manage'] });
  assert.equal((await manager.fetch(path, { method: 'POST', body })).status, 201);
  assert.equal((await plugin.visitor.fetch(path)).status, 401);
});
