import { defineType, type DefinedType, type ObjectOf, type TypeName } from '../../src/plugin/api/plugin.ts';
import { searchWords } from './search-words.ts';

export type Post = ObjectOf<ReturnType<typeof declared>>;

/** The maximum length of a post's text. The limit keeps the whole object below the maximum size of objects. */
const contentLengthMax = 524_288;

const shortTextLengthMax = 8_192;
const visibilities = ['PUBLIC', 'INTERNAL', 'PRIVATE'] as const;

/** Returns whether all visitors may read the post. */
export function isPublic({ metadata, spec: { publish, deleted, visible = 'PUBLIC' } }: Post): boolean {
  return publish === true && deleted !== true && visible === 'PUBLIC' && metadata.deletionTimestamp === undefined;
}

export function postName(domain: string): TypeName {
  return { group: `content.${domain}`, version: 'v1alpha1', plural: 'posts' };
}

export function post(domain: string): DefinedType<Post> {
  return declared(domain);
}

/** This function has no declared return type, so that the type of the result is derived from the schema. */
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
      { name: 'spec.submitted', type: 'boolean' },
      { name: 'spec.publishTime', type: 'timestamp' },
      { name: 'spec.visible' },
      { name: 'spec.deleted', type: 'boolean' },
      { name: 'spec.pinned', type: 'boolean' },
      { name: 'spec.priority', type: 'number' },
      { name: 'spec.categories', multi: true, indexFunc: (object) => object.spec.categories },
      // `words^=beg` finds posts by the beginnings of the words of their titles and tags.
      { name: 'words', multi: true, indexFunc: ({ spec }) => searchWords([spec.title, ...(spec.tags ?? [])]) },
    ],
    // The status is a subresource, because authors have the right to write posts, but not their status.
    statusSubresource: true,
    printerColumns: [
      { name: 'Title', type: 'string', pointer: '/spec/title' },
      { name: 'Owner', type: 'string', pointer: '/spec/owner' },
      { name: 'Published', type: 'boolean', pointer: '/spec/publish' },
      // kubectl cannot display a `date` in the future, so this column is not a `date`.
      { name: 'Published At', type: 'string', format: 'date-time', pointer: '/spec/publishTime', priority: 1 },
      { name: 'Comments', type: 'integer', pointer: '/status/comments', priority: 1 },
      // The console shows these columns in lists of posts, without reading the texts.
      { name: 'Submitted', type: 'boolean', pointer: '/spec/submitted', priority: 1 },
      { name: 'Deleted', type: 'boolean', pointer: '/spec/deleted', priority: 1 },
      { name: 'Visible', type: 'string', pointer: '/spec/visible', priority: 1 },
      { name: 'Pinned', type: 'boolean', pointer: '/spec/pinned', priority: 1 },
      { name: 'Tags', type: 'string', pointer: '/spec/tags', priority: 1 },
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
          description: 'The name of the post in URLs, unique among posts.',
        },
        owner: { type: 'string', minLength: 1, maxLength: 253, description: 'The author.' },
        tags: {
          type: 'array',
          maxItems: 100,
          uniqueItems: true,
          items: { type: 'string', minLength: 1, maxLength: 100 },
          description: 'Keywords of the post.',
        },
        publish: {
          type: 'boolean',
          description: 'Whether visitors may read the post, unless the post is in the recycle bin or not PUBLIC.',
        },
        submitted: {
          type: 'boolean',
          description: 'Whether the author asks an editor to publish the post. Its publication removes the member.',
        },
        visible: { enum: visibilities, description: 'PUBLIC by default. The public routes return only PUBLIC posts.' },
        deleted: {
          type: 'boolean',
          description: 'Whether the post is in the recycle bin, so that the public routes do not return the post.',
        },
        pinned: { type: 'boolean', description: 'For front ends: whether the post is shown before other posts.' },
        priority: {
          type: 'integer',
          minimum: -2_147_483_648,
          maximum: 2_147_483_647,
          description: 'For front ends: the order of pinned posts.',
        },
        allowComment: { type: 'boolean', description: 'Whether users can comment; true by default.' },
        excerpt: {
          type: 'object',
          description: 'The source of status.excerpt.',
          additionalProperties: false,
          properties: {
            autoGenerate: {
              type: 'boolean',
              description: 'Whether the excerpt is the beginning of the text; true by default. Otherwise it is `raw`.',
            },
            raw: { type: 'string', maxLength: shortTextLengthMax, description: 'The excerpt by the author.' },
          },
        },
        categories: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', minLength: 1, maxLength: 253 },
          description: 'The names of the categories.',
        },
        cover: { type: 'string', maxLength: shortTextLengthMax, description: 'The address of a picture.' },
        template: { type: 'string', maxLength: 253, description: 'For front ends: the template of the page.' },
        baseSnapshot: { type: 'string', maxLength: 253, description: 'For clients: the first snapshot.' },
        headSnapshot: { type: 'string', maxLength: 253, description: 'For clients: the latest snapshot.' },
        releaseSnapshot: { type: 'string', maxLength: 253, description: 'For clients: the published snapshot.' },
        htmlMetas: {
          type: 'array',
          maxItems: 100,
          items: { type: 'object', additionalProperties: { type: 'string', maxLength: shortTextLengthMax } },
          description: 'For front ends: the attributes of meta elements of the page.',
        },
        publishTime: {
          type: 'string',
          format: 'date-time',
          description: 'The time of publication.',
        },
        content: { type: 'string', maxLength: contentLengthMax, description: 'The text.' },
      },
    },
    status: {
      type: 'object',
      description: 'Derived from the post and its comments.',
      properties: {
        permalink: { type: 'string', description: 'The path of the post in URLs, with the slug or the name.' },
        excerpt: { type: 'string', description: 'The excerpt: the beginning of the text, or spec.excerpt.raw.' },
        readingMinutes: { type: 'integer', description: 'The reading time in minutes.' },
        comments: { type: 'integer', description: 'The number of approved comments.' },
      },
    },
  },
} as const;
