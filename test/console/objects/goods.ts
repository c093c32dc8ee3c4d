/** A plugin of the tests: types whose objects name each other by every policy. */
import { rm } from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';

import { manifestYaml, writePlugins } from '../../plugin/host/host-stage.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { Stage } from '../support/stage.ts';

const policies = ['refuse', 'cascade', 'clear', 'orphan'] as const;
export const goodsApi = '/apis/goods.example/v1';
export const goodsPath = '/objects/goods.example/v1';

function typeText(kind: string, plural: string, more = ''): string {
  const names = policies.map((policy) => `${policy}: { type: 'string' }`).join(', ');
  return `{ group: 'goods.example', version: 'v1', kind: '${kind}', singular: '${kind.toLowerCase()}',
    plural: '${plural}', schema: { type: 'object', properties: { spec: { type: 'object', properties: { ${names} } } } },
    indexes: [{ name: 'spec.refuse' }]${more} }`;
}

const references = policies
  .map((policy) => `{ field: 'spec.${policy}', to: 'groups.goods.example', onMissing: 'allow', onDelete: '${policy}' }`)
  .join(', ');
/** A schema with a member of each kind that forms show. */
const shape = {
  title: { type: 'string', minLength: 1, description: 'The title of the shape.' },
  count: { type: 'integer', minimum: 0, maximum: 10, default: 3 },
  enabled: { type: 'boolean' },
  mode: { enum: ['on', 'off'] },
  nation: { enum: Array.from({ length: 300 }, (_, index) => `nation ${String(index)}`) },
  when: { type: 'string', format: 'date-time' },
  port: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  note: { type: ['string', 'null'] },
  text: { type: 'string', maxLength: 5000 },
  tags: { type: 'array', items: { type: 'string', minLength: 1 } },
  rules: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', minLength: 2 }, weight: { type: 'integer' } },
    },
  },
  settings: { type: 'object', additionalProperties: { type: 'string' } },
  either: { oneOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }] },
  tree: { $ref: '#/$defs/tree' },
  group: { type: 'string' },
};
const shapeSchema = {
  type: 'object',
  $defs: { tree: { type: 'object', properties: { leaf: { type: 'string' }, inner: { $ref: '#/$defs/tree' } } } },
  properties: { spec: { type: 'object', required: ['title'], additionalProperties: false, properties: shape } },
};
const wideNames = Array.from({ length: 1_000 }, (_, index) => `member${String(index)}`);
const wideSchema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: Object.fromEntries(wideNames.map((name) => [name, { type: 'string' }])) },
  },
};

function typeWith(kind: string, schema: object, more = ''): string {
  const singular = kind.toLowerCase();
  return `{ group: 'goods.example', version: 'v1', kind: '${kind}', singular: '${singular}', plural: '${singular}s',
    schema: ${JSON.stringify(schema)}${more} }`;
}

const groupField = `{ field: 'spec.group', to: 'groups.goods.example', onMissing: 'allow', onDelete: 'orphan' }`;
const named = `, references: [${groupField}]`;
const main = `export default { types: [
  ${typeText('Group', 'groups')}, ${typeText('Link', 'links', `, references: [${references}]`)},
  ${typeWith('Shape', shapeSchema, named)}, ${typeWith('Wide', wideSchema)}] };\n`;

/** Starts a server with the plugin, and a browser, for the tests of one file. */
export function goodsStage(t: Test, environment: Readonly<Record<string, string>> = {}): Stage {
  const root = mkdtempSync(join(tmpdir(), 'ledgerplane-goods-'));
  t.before(async () => {
    await writePlugins(root, {
      goods: { 'plugin.yaml': manifestYaml('goods', { main: 'main.mjs' }), 'main.mjs': main },
    });
  });
  t.teardown(async () => rm(root, { recursive: true, force: true }));
  return new Stage(t, { ...environment, PLUGINS_DIRS: root });
}

type Created = { readonly metadata: { readonly uid: string } };

/** Creates an object, and returns its uid. */
export async function make(stage: Stage, plural: string, name: string, more: object = {}): Promise<string> {
  const { metadata = {}, ...rest } = more as { readonly metadata?: object };
  const body = { metadata: { name, ...metadata }, spec: {}, ...rest };
  const response = await stage.server.call(`${goodsApi}/${plural}`, { method: 'POST', body });
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as Created).metadata.uid;
}

export async function read(stage: Stage, plural: string, name: string) {
  const response = await stage.server.call(`${goodsApi}/${plural}/${name}`);
  const { metadata, spec } = (await response.json()) as {
    readonly metadata?: { readonly labels?: object; readonly ownerReferences?: readonly object[] };
    readonly spec?: object;
  };
  return { status: response.status, labels: metadata?.labels, owners: metadata?.ownerReferences, spec };
}

export async function change(stage: Stage, plural: string, name: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const response = await stage.server.call(`${goodsApi}/${plural}/${name}`, { method: 'PATCH', body, headers });
  if (response.status !== 200) throw new Error(await response.text());
}

export function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
}

/** Checks the accessibility in both themes, and that a narrow window does not scroll sideways. */
export async function checkLook(
  t: Test,
  page: Page,
  { picture, name }: { readonly picture: (name: string) => Promise<void>; readonly name: string },
): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    let problems = await accessibilityProblems(page);
    // Chromium applies a changed colour scheme to some elements with a later frame only.
    for (let attempt = 0; attempt < 3 && problems.length > 0; attempt += 1) {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      problems = await accessibilityProblems(page);
    }
    t.strictSame(problems, [], colorScheme);
  }
  const size = page.viewportSize();
  await picture(name);
  await page.setViewportSize({ width: 320, height: 720 });
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, 'the page fits into 320 px');
  t.strictSame(await accessibilityProblems(page), [], 'in 320 px');
  await picture(`${name}-narrow`);
  if (size !== null) await page.setViewportSize(size);
}
