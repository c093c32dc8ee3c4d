import { tgz, zip } from './archives.ts';

export type TellerOptions = {
  readonly name?: string;
  readonly group?: string;
  readonly format?: 'tgz' | 'zip';
  readonly module?: string;
  readonly more?: string;
  readonly objects?: string;
};

/**
 * A plugin with one type, and a route that returns its version. `more` extends its manifest, `module` replaces its own,
 * `objects` are YAML.
 */
export function tellerPackage(
  version: string,
  {
    name = 'teller',
    group = 'teller.example.com',
    format = 'tgz',
    module = '',
    more = '',
    objects = '',
  }: TellerOptions = {},
): Buffer {
  const main =
    module === ''
      ? `export default {
    types: [{ group: '${group}', version: 'v1', kind: 'Tale', singular: 'tale', plural: 'tales',
      schema: { type: 'object', properties: { spec: {} } } }],
    routes: [{ method: 'GET', path: '/apis/api.${group}/v1/version',
      handler: () => ({ body: { version: '${version}' } }) }],
  };`
      : module;
  const manifest =
    `apiVersion: plugin.\${domain}/v1alpha1\nkind: Plugin\nmetadata:\n  name: ${name}\nspec:\n  version: ${version}\n` +
    `  main: main.js\n${more}`;
  const files = {
    'plugin.yaml': manifest,
    'main.js': main,
    'package.json': '{"type":"module"}',
    ...(objects === '' ? {} : { 'extensions/objects.yaml': objects }),
  };
  const members = Object.entries(files).map(([path, content]) => ({
    name: format === 'tgz' ? `package/${path}` : path,
    content,
  }));
  return format === 'tgz' ? tgz(members) : zip(members);
}

export const tellerVersionPath = '/apis/api.teller.example.com/v1/version';
