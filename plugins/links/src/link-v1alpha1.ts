import type { VersionConversion, VersionDeclaration } from 'ledgerplane/plugin';

import { periodRule, sharedMembers, status } from './link-members.ts';

/** The first version of the type. The server does not serve this version, but stored links may have this version. */
export const v1alpha1: VersionDeclaration = {
  name: 'v1alpha1',
  served: false,
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['url', 'slug', 'groupName'],
        additionalProperties: false,
        properties: { url: { type: 'string', maxLength: 2000 }, ...sharedMembers },
        'x-kubernetes-validations': [periodRule],
      },
      status,
    },
  },
  examples: [
    { spec: { url: 'https://example.com', slug: 'a', groupName: 'b', title: 'A' } },
    { spec: { url: 'https://example.com', slug: 'a', groupName: 'b', title: 'A', tags: ['News'] } },
  ],
};

/** Converts links that are stored in v1alpha1. */
export const urlToTarget: VersionConversion = {
  from: 'v1alpha1',
  to: 'v1beta1',
  up: ({ spec: { url, ...spec }, ...object }) => ({ ...object, spec: { ...spec, target: url } }),
  down: ({ spec: { target, ...spec }, ...object }) => ({ ...object, spec: { ...spec, url: target } }),
};
