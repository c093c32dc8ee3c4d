import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import { compare } from '../../rounds.ts';
import { expect, send } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';

const group = 'checked.example';

/** Returns the text of a type in a plugin. The checked type also has defaults, a rule and a hook. */
function typeText(kind: string, isChecked: boolean): string {
  const plural = `${kind.toLowerCase()}s`;
  const filled = (value: string): string => (isChecked ? `, default: ${value}` : '');
  const rule = "'x-kubernetes-validations': [{ rule: 'self.min <= self.max && self.title.size() > 3' }],";
  const hook =
    'hooks: { validate: ({ spec }) => ' +
    "(spec.tags.includes('bad') ? [{ pointer: '/spec/tags', detail: 'is bad' }] : undefined) },";
  return `{
    group: '${group}', version: 'v1', kind: '${kind}', singular: '${kind.toLowerCase()}', plural: '${plural}',
    schema: { type: 'object', required: ['spec'], properties: { spec: {
      type: 'object', required: ['title', 'min', 'max'], additionalProperties: false,
      properties: {
        title: { type: 'string', maxLength: 200 }, min: { type: 'integer' }, max: { type: 'integer' },
        tags: { type: 'array', maxItems: 8, items: { type: 'string', maxLength: 100 } },
        tier: { type: 'string'${filled("'gold'")} },
        limits: { type: 'object'${filled('{}')}, properties: { cpu: { type: 'integer'${filled('1')} } } },
      },
      ${isChecked ? rule : ''}
    } } },
    ${isChecked ? hook : ''}
  }`;
}

function writePlugin(folder: string): void {
  mkdirSync(join(folder, 'checked'), { recursive: true });
  const spec = { version: '1.0.0', main: 'main.mjs' };
  const manifest = { apiVersion: 'plugin.svc.run/v1alpha1', kind: 'Plugin', metadata: { name: 'checked' }, spec };
  writeFileSync(join(folder, 'checked', 'plugin.yaml'), JSON.stringify(manifest));
  const types = [typeText('Plain', false), typeText('Checked', true)];
  writeFileSync(join(folder, 'checked', 'main.mjs'), `export default { types: [${types.join(', ')}] };\n`);
}

function collection(kind: 'Plain' | 'Checked'): string {
  return `/apis/${group}/v1/${kind.toLowerCase()}s`;
}

/**
 * The body for the plain type contains the members that the checked type gets from defaults, so both types store the
 * same members.
 */
function createOf(kind: 'Plain' | 'Checked'): RequestTemplate {
  const rest = kind === 'Plain' ? ',"tier":"gold","limits":{"cpu":1}' : '';
  const tags = Array.from({ length: 4 }, (_, index) => `"a-tag-of-some-length-as-people-write-them-${String(index)}"`);
  const spec = `{"title":"An object of the measured kind {n}","min":0,"max":{m},"tags":[${tags.join(',')}]${rest}}`;
  const body = `{"apiVersion":"${group}/v1","kind":"${kind}","metadata":{"name":"c-{n}"},"spec":${spec}}`;
  return { method: 'POST', path: collection(kind), headers, body };
}

/**
 * Measures creates of objects of a type with defaults, a rule and a hook, against creates of the same type without
 * them.
 */
export const createChecked: Measure = {
  name: 'create-checked',
  run: async (bench) => {
    const folder = bench.newDataDir();
    writePlugin(folder);
    return bench.withSubject(
      bench.newDataDir(),
      async ({ url }) => {
        const requests = bench.scaled(20_000);
        const made = { Plain: 1, Checked: 1 };
        const load = async (kind: 'Plain' | 'Checked'): Promise<number> => {
          const plan = { request: createOf(kind), connections: 64, status: 201, warmUp: 500, requests };
          const result = await bench.loader.http({ url, ...plan, first: made[kind] });
          made[kind] = result.next;
          return result.perSecond;
        };
        const comparison = await compare(
          bench.rounds,
          () => load('Plain'),
          () => load('Checked'),
        );
        const stored = (await send(url, 'GET', `${collection('Checked')}/c-1`)).toString();
        expect('defaults of a checked object', stored.includes('"tier":"gold","limits":{"cpu":1}'), true);
        const note = 'with defaults, a rule and a hook';
        return [{ measure: 'POST create, checked', unit: '/s', ...comparison, floor: 0.9, note }];
      },
      { settings: { PLUGINS_DIRS: folder } },
    );
  },
};
