import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startPlugin, type PluginTest } from 'ledgerplane/testing';

import { link } from '../src/link.ts';

const group = '/apis/links.example.com';

let plugin: PluginTest;
before(async () => {
  plugin = await startPlugin({ folder: new URL('../..', import.meta.url) });
});
after(async () => {
  await plugin.stop();
});

test('the older version is not served any more', async () => {
  assert.equal((await plugin.fetch(`${group}/v1alpha1/links`)).status, 404);
  assert.equal((await plugin.fetch(`${group}/v1alpha1/linkgroups`)).status, 200);
});

test('a link needs a title, and its tags are in lower case', async () => {
  const spec = { groupName: 'welcome', slug: 'titled', target: 'https://example.com', tags: ['News'] };
  const body = { metadata: { name: 'titled' }, spec };
  assert.equal((await plugin.fetch(`${group}/v1beta1/links`, { method: 'POST', body })).status, 422);
  const made = await plugin.client.create(link, { ...body, spec: { ...spec, title: 'Titled' } });
  assert.deepEqual(made.spec.tags, ['news']);
});
