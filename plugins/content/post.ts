import { defineType, type PluginObject, type TypeDeclaration, type TypeName } from '../../src/plugin/plugin.ts';

export type Post = PluginObject<{
  readonly title: string;
  readonly slug?: string;
  /** The name of the user whose post it is. */
  readonly owner?: string;
  readonly tags?: readonly string[];
  readonly publish?: boolean;
  readonly publishTime?: string;
  readonly content?: string;
}>;

/** The longest text of one post: with what surrounds it it stays under the bound of one object. */
const contentLengthMax = 524_288;

export function postName(domain: string): TypeName {
  return { group: `content.${domain}`, version: 'v1alpha1', plural: 'posts' };
}

export function post(domain: string): TypeDeclaration<never> {
  return defineType<Post>({
    ...postName(domain),
    kind: 'Post',
    singular: 'post',
    schema,
    indexes: [
      { name: 'spec.title' },
      { name: 'spec.slug', unique: true },
      { name: 'spec.owner' },
      { name: 'spec.tags', multi: true, indexFunc: (object) => object.spec.tags },
      { name: 'spec.publish', type: 'boolean' },
      { name: 'spec.publishTime', type: 'timestamp' },
    ],
    printerColumns: [
      { name: 'Title', type: 'string', pointer: '/spec/title' },
      { name: 'Owner', type: 'string', pointer: '/spec/owner' },
      { name: 'Published', type: 'boolean', pointer: '/spec/publish' },
      { name: 'Published At', type: 'date', pointer: '/spec/publishTime', priority: 1 },
    ],
  });
}

const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['title'],
      additionalProperties: false,
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 200 },
        slug: { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 200, description: 'The post\'s name in addresses; no two posts share one.' },
        owner: { type: 'string', minLength: 1, maxLength: 253, description: 'The user whose post it is.' },
        tags: { type: 'array', maxItems: 100, uniqueItems: true, items: { type: 'string', minLength: 1, maxLength: 100 } },
        publish: { type: 'boolean', description: 'Whether visitors may read it.' },
        publishTime: { type: 'string', format: 'date-time' },
        content: { type: 'string', maxLength: contentLengthMax },
      },
    },
    status: { type: 'object' },
  },
};
