import { defineType, type ObjectOf } from 'ledgerplane/plugin';

/** A group of links, served at /apis/links.example.com/v1alpha1/linkgroups. */
export const linkGroup = defineType({
  group: 'links.example.com',
  version: 'v1alpha1',
  kind: 'LinkGroup',
  singular: 'linkgroup',
  plural: 'linkgroups',
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['title'],
        additionalProperties: false,
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 100 },
          description: { type: 'string', maxLength: 500, default: '' },
        },
      },
      status: {
        type: 'object',
        properties: { links: { type: 'integer', minimum: 0, description: 'The number of links in the group.' } },
      },
    },
  },
  indexes: [{ name: 'spec.title' }, { name: 'status.links', type: 'number' }],
  statusSubresource: true,
  printerColumns: [
    { name: 'Title', type: 'string', pointer: '/spec/title' },
    { name: 'Links', type: 'integer', pointer: '/status/links' },
  ],
});

export type LinkGroup = ObjectOf<typeof linkGroup>;
