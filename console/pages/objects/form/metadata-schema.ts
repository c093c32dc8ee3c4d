import type { JsonSchema } from '../../../server/type-schema.ts';

const texts = { type: 'object', additionalProperties: { type: 'string' } };

export const nameSchema: JsonSchema = { type: 'string' };

/** The members of an object's metadata that users write. */
export const metadataSchema: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: nameSchema,
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: { type: 'string' } },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          name: { type: 'string' },
          uid: { type: 'string' },
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
  },
};
