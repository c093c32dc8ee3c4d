import { defineType, type ObjectOf } from 'ledgerplane/plugin';

import { addressProblems } from './address-problems.ts';
import { periodRule, sharedMembers, status } from './link-members.ts';
import { urlToTarget, v1alpha1 } from './link-v1alpha1.ts';

/** The finalizer that keeps the slug of a deleted link reserved until `retireLinks` removes the finalizer. */
export const retiring = 'links.example.com/retiring';

export function lowerCase(tags: readonly string[]): readonly string[] {
  return tags.map((tag) => tag.toLowerCase());
}

/** A link in a group. GET /apis/api.links.example.com/v1alpha1/go/{slug} redirects to the link's address. */
export const link = defineType({
  group: 'links.example.com',
  version: 'v1beta1',
  versions: [
    v1alpha1,
    { name: 'v1beta1', examples: [{ spec: { target: 'https://example.com', slug: 'a', title: 'A', groupName: 'b' } }] },
  ],
  convert: [urlToTarget],
  kind: 'Link',
  singular: 'link',
  plural: 'links',
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['target', 'title', 'slug', 'groupName'],
        additionalProperties: false,
        properties: { target: { type: 'string', maxLength: 2000 }, ...sharedMembers },
        'x-kubernetes-validations': [periodRule],
      },
      status,
    },
  },
  indexes: [
    { name: 'spec.slug', unique: true },
    { name: 'spec.groupName' },
    { name: 'spec.owner' },
    { name: 'spec.tags', multi: true, indexFunc: ({ spec }) => spec.tags },
    { name: 'spec.priority', type: 'number' },
    { name: 'status.clicks', type: 'number' },
  ],
  references: [
    { field: 'spec.groupName', to: 'linkgroups.links.example.com', onMissing: 'refuse', onDelete: 'cascade' },
  ],
  hooks: {
    default: ({ metadata, spec, ...object }, { operation }) => ({
      ...object,
      metadata:
        operation === 'create' ? { ...metadata, finalizers: [...(metadata.finalizers ?? []), retiring] } : metadata,
      spec: { ...spec, ...(spec.tags === undefined ? {} : { tags: lowerCase(spec.tags) }) },
    }),
    validate: ({ spec }) => addressProblems('/spec/target', spec.target),
  },
  statusSubresource: true,
  printerColumns: [
    { name: 'Slug', type: 'string', pointer: '/spec/slug' },
    { name: 'Group', type: 'string', pointer: '/spec/groupName' },
    { name: 'Clicks', type: 'integer', pointer: '/status/clicks' },
  ],
});

export type Link = ObjectOf<typeof link>;
