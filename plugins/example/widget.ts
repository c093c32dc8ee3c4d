import { defineType, type ObjectOf } from '../../src/plugin/api/plugin.ts';

export const widget = defineType({
  group: 'example.com',
  version: 'v1alpha1',
  kind: 'Widget',
  singular: 'widget',
  plural: 'widgets',
  categories: ['all'],
  schema: {
    type: 'object',
    description: 'An example object to try the API.',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        description: 'The desired state.',
        required: ['title'],
        additionalProperties: false,
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 100, description: 'The display title.' },
          size: { type: 'integer', minimum: 0, maximum: 1000, description: 'Any size.' },
          serial: { type: 'string', minLength: 1, maxLength: 100, description: 'Unique among widgets.' },
          power: { enum: ['on', 'off'], description: 'The desired status.phase.' },
          tags: {
            type: 'array',
            maxItems: 50,
            items: { type: 'string', minLength: 1, maxLength: 100 },
            description: 'Keywords of the widget.',
          },
        },
      },
      status: {
        type: 'object',
        description: 'The observed state.',
        properties: { phase: { type: 'string', description: 'The last applied spec.power.' } },
      },
    },
  },
  indexes: [
    { name: 'spec.title' },
    { name: 'spec.size', type: 'number' },
    { name: 'spec.serial', unique: true },
    { name: 'spec.tags', multi: true, indexFunc: (object) => object.spec.tags },
    { name: 'status.phase' },
  ],
  statusSubresource: true,
  printerColumns: [
    { name: 'Title', type: 'string', pointer: '/spec/title' },
    { name: 'Size', type: 'integer', pointer: '/spec/size' },
    { name: 'Phase', type: 'string', pointer: '/status/phase' },
  ],
});

/** The TypeScript type of a widget, derived from the schema. */
export type Widget = ObjectOf<typeof widget>;
