import type { Strategy } from '../../command/strategy.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { typeKeyOf } from '../../resource/type/type-declaration.ts';
import { lifeStates, type LifeState } from '../lifecycle/life.ts';
import type { TypeDeclaration, TypeName } from '../api/plugin.ts';

/** The phase of a plugin (decision 9.2). Its types and routes are served only while it is started. */
export type PluginPhase = LifeState;

export function pluginTypeName(domain: string): TypeName {
  return { group: `plugin.${domain}`, version: 'v1alpha1', plural: 'plugins' };
}

export function pluginKeyOf(domain: string): TypeKey {
  const { group, plural } = pluginTypeName(domain);
  return typeKeyOf(group, plural);
}

/** The platform's type Plugin: spec from `plugin.yaml`, `enabled` set by users, status written by the host. */
export function pluginTypeDeclaration(domain: string): TypeDeclaration<never> {
  return {
    ...pluginTypeName(domain),
    kind: 'Plugin',
    singular: 'plugin',
    schema: pluginSchema,
    indexes: [{ name: 'spec.displayName' }, { name: 'status.phase' }],
    statusSubresource: true,
    printerColumns: [
      { name: 'Display Name', type: 'string', pointer: '/spec/displayName' },
      { name: 'Version', type: 'string', pointer: '/spec/version' },
      { name: 'Phase', type: 'string', pointer: '/status/phase' },
    ],
  };
}

/** Only the host writes the status, which an uninstall relies on; other writers' values are ignored. */
export const pluginStrategy: Strategy = {
  complete: ({ before, after, subject }) => {
    const { status: sent, ...object } = after;
    const status = subject.kind === 'platform' ? sent : before?.['status'];
    return { ok: true, object: status === undefined ? object : { ...object, status } };
  },
};

/** Unknown members are kept: a manifest may contain more than this version reads. */
const specSchema = {
  type: 'object',
  properties: {
    displayName: { type: 'string', maxLength: 253 },
    description: { type: 'string' },
    version: { type: 'string', maxLength: 256, description: 'A semantic version.' },
    requires: { type: 'string', maxLength: 256, description: 'The range of platform versions it works with.' },
    pluginDependencies: {
      description:
        'The plugins that must be started before it: by name, each with the range of versions it works with.',
      type: 'object',
      additionalProperties: { type: 'string' },
    },
    author: { type: ['object', 'string'] },
    homepage: { type: 'string' },
    license: { type: ['array', 'string'] },
    enabled: { type: 'boolean', description: 'false stops it; true when absent.' },
    deleteData: { type: 'boolean', description: 'When it is deleted, the objects of its types are removed as well.' },
    main: { type: 'string', description: "The ES module, relative to the plugin's folder." },
    package: {
      description: 'The package with its files, set by the installation. Absent for a plugin in a plugin folder.',
      type: 'object',
      required: ['digest', 'bytes'],
      additionalProperties: false,
      properties: {
        digest: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the archive.' },
        bytes: { type: 'integer', minimum: 1 },
      },
    },
  },
};

const statusSchema = {
  type: 'object',
  properties: {
    phase: { enum: [...lifeStates] },
    version: { type: 'string', description: 'The version that runs.' },
    observedGeneration: { type: 'integer', description: 'The metadata.generation that this status describes.' },
    progress: { type: 'integer', minimum: 0, maximum: 100, description: 'Progress of its index builds, in percent.' },
    applied: {
      description:
        'The objects created from its files; removed when a later version no longer ' +
        'declares them, or at uninstallation.',
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'names'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          names: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    types: {
      description: 'The types it has declared; spec.deleteData removes their objects.',
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'version', 'kind', 'singular', 'plural'],
        properties: {
          group: { type: 'string' },
          version: { type: 'string' },
          kind: { type: 'string' },
          singular: { type: 'string' },
          plural: { type: 'string' },
        },
      },
    },
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
        properties: {
          type: { type: 'string' },
          status: { enum: ['True', 'False', 'Unknown'] },
          reason: { type: 'string' },
          message: { type: 'string' },
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
  },
};

export const pluginSchema = {
  type: 'object',
  required: ['spec'],
  properties: { spec: specSchema, status: statusSchema },
};
