import {
  defineType,
  escapeSelectorValue,
  type DefinedType,
  type ObjectOf,
  type OwnerReference,
  type TypeName,
} from '../../src/plugin/api/plugin.ts';
import type { Post } from './post.ts';

export type Comment = ObjectOf<ReturnType<typeof declared>>;

/** The moderation states of a comment. Visitors can read only approved comments. */
export const commentStates = ['pending', 'approved', 'spam'] as const;
export type CommentState = (typeof commentStates)[number];

export function commentName(domain: string): TypeName {
  return { group: `content.${domain}`, version: 'v1alpha1', plural: 'comments' };
}

export function comment(domain: string): DefinedType<Comment> {
  return declared(domain);
}

/** Returns the owner reference from a comment to its post. The comment is deleted when the post is deleted. */
export function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Post): OwnerReference {
  return { apiVersion, kind, name, uid };
}

export function isOwnedBy({ metadata }: Comment, owner: Post): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
}

export function stateOf({ spec }: Comment): CommentState {
  return spec.state ?? 'pending';
}

/**
 * Returns the field selectors of the approved comments on a post. All visitors may read these comments if the post is
 * public.
 */
export function publicCommentsOf(name: string): readonly string[] {
  return [`spec.post=${escapeSelectorValue(name)}`, 'spec.state=approved', '!metadata.deletionTimestamp'];
}

/** This function has no declared return type, so that the type of the result is derived from the schema. */
function declared(domain: string) {
  return defineType({
    ...commentName(domain),
    kind: 'Comment',
    singular: 'comment',
    categories: ['all'],
    schema,
    indexes: [
      { name: 'spec.post' },
      { name: 'spec.author' },
      { name: 'spec.state', indexFunc: ({ spec }) => spec.state ?? 'pending' },
      // Whether the comment has an owner reference. The reconciler of posts finds comments without one by this index.
      { name: 'owned', type: 'boolean', indexFunc: ({ metadata }) => (metadata.ownerReferences ?? []).length > 0 },
    ],
    printerColumns: [
      { name: 'Post', type: 'string', pointer: '/spec/post' },
      { name: 'Author', type: 'string', pointer: '/spec/author' },
      { name: 'State', type: 'string', pointer: '/spec/state' },
    ],
  });
}

const schema = {
  type: 'object',
  description: 'A comment on a post.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      description: 'The text, its author and its moderation.',
      required: ['post', 'text'],
      additionalProperties: false,
      properties: {
        post: { type: 'string', minLength: 1, maxLength: 253, description: 'The name of the post.' },
        author: { type: 'string', minLength: 1, maxLength: 253, description: 'The user name of the author.' },
        text: { type: 'string', minLength: 1, maxLength: 10_000, description: 'The text.' },
        state: {
          enum: ['pending', 'approved', 'spam'],
          description: 'The moderation state; pending by default. Visitors can read only approved comments.',
        },
      },
    },
  },
} as const;
