import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Measure } from '../bench.ts';
import { compare } from '../rounds.ts';
import { expect, send } from '../subject/client.ts';
import { headers } from '../subject/server.ts';
import { widgetText } from '../subject/widgets.ts';

/**
 * Measures GET and LIST of a type with two versions and a conversion, both in the preferred version and in the other
 * one, against a type with one version and the same objects.
 */
export const versions: Measure = {
  name: 'versions',
  run: async (bench) => {
    const plugins = bench.newDataDir();
    writePlugin(plugins);
    return bench.withSubject(
      bench.newDataDir(),
      async ({ url }) => {
        const objects = 500;
        for (const [path, apiVersion] of [
          [single, 'single.example/v1'],
          [preferred, 'several.example/v1'],
        ] as const)
          for (let index = 0; index < objects; index += 1)
            await send(url, 'POST', path, bodyOf(apiVersion, `w-${String(index)}`));
        const load = async (path: string, requests: number): Promise<number> => {
          const result = await bench.loader.http({
            url,
            request: { method: 'GET', path, headers },
            connections: 16,
            status: 200,
            warmUp: 100,
            requests,
          });
          expect('bytes of all responses', result.bodyBytes > requests * 100 ? 1 : 0, 1);
          return result.perSecond;
        };
        const figure = async (name: string, floor: number, paths: readonly [string, string], requests: number) => ({
          measure: name,
          unit: '/s',
          ...(await compare(
            bench.rounds,
            async () => load(paths[0], requests),
            async () => load(paths[1], requests),
          )),
          floor,
        });
        const one = '/w-0';
        // All requests have the same query, so the responses come from the cache, as for lists of a type with one
        // version.
        const gets = bench.scaled(30_000);
        const lists = bench.scaled(2_000);
        return [
          await figure('GET in the preferred version', 0.98, [single + one, preferred + one], gets),
          await figure('GET in another version', 0.5, [single + one, other + one], gets),
          await figure('LIST 500 in the preferred version', 0.98, [single, preferred], lists),
          await figure('LIST 500 in another version', 0.5, [single, other], lists),
        ];
      },
      { settings: { PLUGINS_DIRS: plugins } },
    );
  },
};

const single = '/apis/single.example/v1/widgets';
const preferred = '/apis/several.example/v1/widgets';
const other = '/apis/several.example/v1alpha1/widgets';

function bodyOf(apiVersion: string, name: string): string {
  const text = widgetText({ name, size: '1', tier: 'gold', batch: '1' });
  return text.replace('example.com/v1alpha1', apiVersion);
}

function writePlugin(folder: string): void {
  const schema = (size: string): string =>
    `{ type: 'object', properties: { spec: { type: 'object', properties: { ${size}: { type: 'integer' } } } } }`;
  const type = (group: string, more: string): string =>
    `{ group: '${group}', version: 'v1', kind: 'Widget', singular: 'widget', plural: 'widgets', ` +
    `schema: ${schema('size')}, indexes: [{ name: 'spec.title' }], ${more} }`;
  const rename = (from: string, to: string): string =>
    `({ spec: { ${from}: value, ...spec }, ...object }) => ({ ...object, spec: { ...spec, ${to}: value } })`;
  const versioned = `
    versions: [
      { name: 'v1alpha1', schema: ${schema('length')}, examples: [{ spec: { length: 1 } }] },
      { name: 'v1', examples: [{ spec: { size: 1 } }] },
    ],
    convert: [{ from: 'v1alpha1', to: 'v1', up: ${rename('length', 'size')}, down: ${rename('size', 'length')} }],`;
  const plugin = join(folder, 'versioned');
  mkdirSync(plugin, { recursive: true });
  writeFileSync(
    join(plugin, 'main.mjs'),
    `export default { types: [${type('single.example', '')}, ${type('several.example', versioned)}] };`,
  );
  writeFileSync(
    join(plugin, 'plugin.yaml'),
    'apiVersion: plugin.svc.run/v1alpha1\nkind: Plugin\nmetadata: { name: versioned }\n' +
      'spec: { version: 1.0.0, main: main.mjs }\n',
  );
}
