import { packageOf } from './archives.ts';

/** The types of a version of the plugin `links`. */
export type LinksOptions = {
  readonly version: string;
  /** The one member of `spec`, which is required. */
  readonly member: 'title' | 'label';
  readonly hasNotes?: boolean;
  /** Further members of the definition, as text. */
  readonly more?: string;
  /** Further members of the type Link, as text. */
  readonly typed?: string;
};

export const linksPath = '/apis/links.example.com/v1/links';
export const linksKey = 'links.links.example.com';

/** A plugin whose type Link has one required member, which another version renames. */
export function linksPackage(options: LinksOptions): Buffer {
  return packageOf('links', { files: linksFiles(options), more: '  main: main.js\n', version: options.version });
}

export function linksFiles({
  member,
  hasNotes = false,
  more = '',
  typed = '',
}: LinksOptions): Readonly<Record<string, string>> {
  const group = 'links.example.com';
  const note =
    `{ group: '${group}', version: 'v1', kind: 'Note', singular: 'note', plural: 'notes', ` +
    "schema: { type: 'object', properties: { spec: {} } } },";
  const main = `
    const link = { group: '${group}', version: 'v1', kind: 'Link', singular: 'link', plural: 'links',
      schema: { type: 'object', required: ['spec'], properties: { spec: {
        type: 'object', required: ['${member}'], additionalProperties: false,
        properties: { ${member}: { type: 'string' } } } } },
      indexes: [{ name: 'spec.${member}' }], ${typed} };
    export default { types: [link, ${hasNotes ? note : ''}], ${more} };
  `;
  return { 'main.js': main, 'package.json': '{"type":"module"}' };
}
