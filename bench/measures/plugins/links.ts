import { tgz } from '../../../test/packages/archives.ts';
import type { Bench } from '../../bench.ts';
import { authorization, headers } from '../../subject/server.ts';

const group = 'links.example';
export const linksPath = `/apis/${group}/v1/links`;
const pluginPath = '/apis/plugin.svc.run/v1alpha1/plugins/links';

export type LinksVersion = {
  readonly version: string;
  /** The required member of `spec`. */
  readonly member: 'title' | 'label';
  /**
   * Further members of the plugin's definition, as JavaScript text. The text may use the variable `link`, which is the
   * type.
   */
  readonly more?: string;
};

/**
 * Returns the package of a plugin with one type of about ten members. The versions of the package differ in one
 * required member.
 */
export function linksPlugin({ version, member, more = '' }: LinksVersion): Buffer {
  const main = `const link = {
    group: '${group}', version: 'v1', kind: 'Link', singular: 'link', plural: 'links',
    schema: { type: 'object', required: ['spec'], properties: { spec: {
      type: 'object', required: ['${member}', 'url'], additionalProperties: false,
      properties: {
        ${member}: { type: 'string', maxLength: 200 }, url: { type: 'string', maxLength: 2000 },
        size: { type: 'integer', minimum: 0 }, tier: { enum: ['gold', 'silver'] },
        tags: { type: 'array', maxItems: 16, items: { type: 'string', maxLength: 100 } },
        owner: { type: 'object', properties: { name: { type: 'string' }, mail: { type: 'string' } } },
      },
    } } },
    indexes: [{ name: 'spec.${member}' }, { name: 'spec.size', type: 'number' }],
  };
  export default { types: [link], ${more} };`;
  const spec = { version, main: 'main.js' };
  const manifest = { apiVersion: 'plugin.svc.run/v1alpha1', kind: 'Plugin', metadata: { name: 'links' }, spec };
  return tgz([
    { name: 'package/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'package/package.json', content: '{"type":"module"}' },
    { name: 'package/main.js', content: main },
  ]);
}

/** Creates links `link-0`, `link-1` and so on, in the form of the version with `title`. */
export async function createLinks(bench: Bench, url: string, count: number): Promise<void> {
  const tags = Array.from({ length: 4 }, (_, index) => `"a-tag-of-some-length-as-people-write-them-${String(index)}"`);
  const spec =
    '{"title":"A link of the measured kind {n}","url":"https://example.com/a/path/to/the/page/{n}","size":{m},' +
    `"tier":"gold","tags":[${tags.join(',')}],"owner":{"name":"jane","mail":"jane@example.com"}}`;
  const body = `{"apiVersion":"${group}/v1","kind":"Link","metadata":{"name":"link-{n}"},"spec":${spec}}`;
  const request = { method: 'POST', path: linksPath, headers, body } as const;
  await bench.loader.http({ url, request, connections: 64, status: 201, warmUp: 0, requests: count });
}

export type ShownPlugin = {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    readonly upgrade?: { readonly objects?: readonly { readonly invalid: number }[] };
    readonly migrations?: readonly { readonly phase: string; readonly changed: number }[];
  };
};

/** Sends a package to a route of plugins: `install`, or `<name>/upgrade`. */
export async function send(
  url: string,
  route: string,
  archive: Buffer,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<ShownPlugin> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'links.tgz');
  const path = `/apis/api.console.svc.run/v1alpha1/plugins/${route}${dryRun ? '?dryRun=All' : ''}`;
  const answer = await fetch(url + path, { method: 'POST', headers: { authorization }, body: form });
  if (!answer.ok) throw new Error(`${route} is answered with ${String(answer.status)}: ${await answer.text()}`);
  return (await answer.json()) as ShownPlugin;
}

export async function shownLinks(url: string): Promise<ShownPlugin> {
  return (await (await fetch(url + pluginPath, { headers: { authorization } })).json()) as ShownPlugin;
}

/** The number of objects in the condition ObjectsInvalid; 0 without it. */
export function invalidIn({ status }: ShownPlugin): number {
  const message = status?.conditions?.find(({ type }) => type === 'ObjectsInvalid')?.message ?? '';
  return Number(/: (\d+) objects? break/u.exec(message)?.[1] ?? 0);
}
