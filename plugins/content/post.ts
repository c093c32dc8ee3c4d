import { defineType, type DefinedType, type ObjectOf, type TypeName } from '../../src/plugin/api/plugin.ts';

export type Post = ObjectOf<ReturnType<typeof declared>>;

/** The longest text of one post: with the rest of the object it stays below the limit of objects. */
const contentLengthMax = 524_288;

const shortTextLengthMax = 8_192;
const visibilities = ['PUBLIC', 'INTERNAL', 'PRIVATE'] as const;

/** Whether everybody may read the post. */
export function isPublic({ metadata, spec: { publish, deleted, visible = 'PUBLIC' } }: Post): boolean {
  return publish === true && deleted !== true && visible === 'PUBLIC' && metadata.deletionTimestamp === undefined;
}

export function postName(domain: string): TypeName {
  return { group: `content.${domain}`, version: 'v1alpha1', plural: 'posts' };
}

export function post(domain: string): DefinedType<Post> {
  return declared(domain);
}

/** Generic, so that the type of the result is derived from the schema. */
function declared(domain: string) {
  return defineType({
    ...postName(domain),
    kind: 'Post',
    singular: 'post',
    categories: ['all'],
    schema,
    indexes: [
      { name: 'spec.title' },
      { name: 'spec.slug', unique: true },
      { name: 'spec.owner' },
      { name: 'spec.tags', multi: true, indexFunc: (object) => object.spec.tags },
      { name: 'spec.publish', type: 'boolean' },
      { name: 'spec.publishTime', type: 'timestamp' },
      { name: 'spec.visible' },
      { name: 'spec.deleted', type: 'boolean' },
      { name: 'spec.pinned', type: 'boolean' },
      { name: 'spec.priority', type: 'number' },
      { name: 'spec.categories', multi: true, indexFunc: (object) => object.spec.categories },
    ],
    // Only the reconciler writes the status: authors' writes do not change it.
    statusSubresource: true,
    printerColumns: [
      { name: 'Title', type: 'string', pointer: '/spec/title' },
      { name: 'Owner', type: 'string', pointer: '/spec/owner' },
      { name: 'Published', type: 'boolean', pointer: '/spec/publish' },
      // Authors may set a time in the future, for which a date column has no text.
      { name: 'Published At', type: 'string', format: 'date-time', pointer: '/spec/publishTime', priority: 1 },
      { name: 'Comments', type: 'integer', pointer: '/status/comments', priority: 1 },
    ],
  });
}

const schema = {
  type: 'object',
  description: 'A post of a site.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      description: 'The text, and how it is published.',
      required: ['title'],
      additionalProperties: false,
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 200, description: 'The title.' },
        slug: {
          type: 'string',
          pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
          maxLength: 200,
          description: "The post's name in addresses; no two posts share one.",
        },
        owner: { type: 'string', minLength: 1, maxLength: 253, description: 'The author.' },
        tags: {
          type: 'array',
          maxItems: 100,
          uniqueItems: true,
          items: { type: 'string', minLength: 1, maxLength: 100 },
          description: 'Words to find posts by.',
        },
        publish: {
          type: 'boolean',
          description: 'Whether anonymous visitors may read it, unless it is deleted or not visible to the public.',
        },
        visible: { enum: visibilities, description: 'PUBLIC when absent; the public routes show no other post.' },
        deleted: { type: 'boolean', description: 'In the recycle bin: the public routes do not show it.' },
        pinned: { type: 'boolean', description: 'Kept for front ends: shown before other posts.' },
        priority: {
          type: 'integer',
          minimum: -2_147_483_648,
          maximum: 2_147_483_647,
          description: 'Kept for front ends: the order of pinned posts.',
        },
        allowComment: { type: 'boolean', description: 'false: readers cannot comment.' },
        excerpt: {
          type: 'object',
          description: 'How status.excerpt is made.',
          additionalProperties: false,
          properties: {
            autoGenerate: {
              type: 'boolean',
              description: 'false: the excerpt is `raw`, not the beginning of the text.',
            },
            raw: { type: 'string', maxLength: shortTextLengthMax, description: 'An excerpt by the author.' },
          },
        },
        categories: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', minLength: 1, maxLength: 253 },
          description: 'Names of categories.',
        },
        cover: { type: 'string', maxLength: shortTextLengthMax, description: 'The address of a picture.' },
        template: { type: 'string', maxLength: 253, description: 'Kept for front ends: the template of the page.' },
        baseSnapshot: { type: 'string', maxLength: 253, description: 'Kept for clients: the first snapshot.' },
        headSnapshot: { type: 'string', maxLength: 253, description: 'Kept for clients: the latest snapshot.' },
        releaseSnapshot: { type: 'string', maxLength: 253, description: 'Kept for clients: the published snapshot.' },
        htmlMetas: {
          type: 'array',
          maxItems: 100,
          items: { type: 'object', additionalProperties: { type: 'string', maxLength: shortTextLengthMax } },
          description: 'Kept for front ends: attributes of meta elements of the page.',
        },
        publishTime: {
          type: 'string',
          format: 'date-time',
          description: 'The time of publication, as its author sets it.',
        },
        content: { type: 'string', maxLength: contentLengthMax, description: 'The text.' },
      },
    },
    status: {
      type: 'object',
      description: 'Derived from the post and its comments.',
      properties: {
        permalink: { type: 'string', description: 'Its path in URLs: its slug, or its name.' },
        excerpt: { type: 'string', description: 'The beginning of its text.' },
        readingMinutes: { type: 'integer', description: 'Reading time.' },
        comments: { type: 'integer', description: 'The number of its approved comments.' },
      },
    },
  },
} as const;
