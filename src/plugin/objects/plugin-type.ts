import type { Strategy } from '../../command/strategy.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { conditionMembers } from '../../resource/schema/condition-schema.ts';
import { typeKeyOf } from '../../resource/type/type-declaration.ts';
import { lifeStates, type LifeState } from '../lifecycle/life.ts';
import type { TypeDeclaration, TypeName } from '../api/plugin.ts';
import { migrationsSchema } from './migration-records.ts';
import { upgradeSchema } from './upgrade-schema.ts';

/**
 * The phase of a plugin (docs/spec/decisions.md, 9.2). A plugin's types and routes are served only in the phase
 * `started`.
 */
export type PluginPhase = LifeState;

export function pluginTypeName(domain: string): TypeName {
  return { group: `plugin.${domain}`, version: 'v1alpha1', plural: 'plugins' };
}

export function pluginKeyOf(domain: string): TypeKey {
  const { group, plural } = pluginTypeName(domain);
  return typeKeyOf(group, plural);
}

/**
 * Declares the platform's type Plugin. The `spec` has the members of `spec` in `plugin.yaml`. An install sets
 * `package`. Users set `enabled` and `deleteData`. The host writes the status.
 */
export function pluginTypeDeclaration(domain: string): TypeDeclaration<never> {
  return {
    ...pluginTypeName(domain),
    kind: 'Plugin',
    singular: 'plugin',
    categories: ['all'],
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

/** Ignores the status in writes of other authors than the platform, because an uninstall relies on the status. */
export const pluginStrategy: Strategy = {
  complete: ({ before, after, subject }) => {
    const { status: sent, ...object } = after;
    const status = subject.kind === 'platform' ? sent : before?.['status'];
    return { ok: true, object: status === undefined ? object : { ...object, status } };
  },
};

/**
 * The schema of `spec`. Unknown members are kept, because a manifest may contain members that this version of the
 * platform does not know.
 */
const specSchema = {
  type: 'object',
  description: 'The manifest of the plugin, and whether it runs.',
  properties: {
    displayName: { type: 'string', maxLength: 253, description: 'The name for display to users.' },
    description: { type: 'string', description: 'The purpose of the plugin.' },
    version: { type: 'string', maxLength: 256, description: 'A semantic version.' },
    requires: { type: 'string', maxLength: 256, description: 'The range of supported platform versions.' },
    pluginDependencies: {
      description: 'The plugins that must be started first: the range of supported versions for each plugin name.',
      type: 'object',
      additionalProperties: { type: 'string' },
    },
    author: { type: ['object', 'string'], description: 'The author: a name, or an object with a name.' },
    homepage: { type: 'string', description: 'The address of a page about the plugin.' },
    license: { type: ['array', 'string'], description: 'The license, or a list of licenses.' },
    enabled: { type: 'boolean', description: 'Whether the plugin runs; true by default.' },
    deleteData: {
      type: 'boolean',
      description: "Whether deleting the plugin also deletes the objects of the plugin's types; false by default.",
    },
    main: { type: 'string', description: "The ES module, relative to the plugin's folder." },
    console: {
      type: 'string',
      description: "The folder of the built front end for the console, relative to the plugin's folder.",
    },
    package: {
      description:
        "The package with the plugin's files, set by the installation. Absent for a plugin in a plugin folder.",
      type: 'object',
      required: ['digest', 'bytes'],
      additionalProperties: false,
      properties: {
        digest: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the archive.' },
        bytes: { type: 'integer', minimum: 1, description: 'The size of the archive.' },
      },
    },
  },
};

/** The schema of a list of references to objects. Each element contains the names of the objects of one type. */
const objectRefs = {
  type: 'array',
  items: {
    type: 'object',
    required: ['apiVersion', 'kind', 'names'],
    properties: {
      apiVersion: { type: 'string', description: 'The group and version of the objects.' },
      kind: { type: 'string', description: 'The kind of the objects.' },
      names: { type: 'array', items: { type: 'string' }, description: 'The names of the objects.' },
    },
  },
};

const statusSchema = {
  type: 'object',
  description: 'The state of the plugin, set by the platform.',
  properties: {
    phase: {
      enum: [...lifeStates],
      description: 'The state of the plugin. Its types and routes are served only in the phase started.',
    },
    version: { type: 'string', description: 'The version that runs.' },
    observedGeneration: { type: 'integer', description: 'The metadata.generation that this status describes.' },
    progress: { type: 'integer', minimum: 0, maximum: 100, description: 'The progress of index builds, in percent.' },
    applied: {
      description:
        "The objects that were created from the plugin's files. An object is removed when a later version no longer " +
        'declares it, or when the plugin is uninstalled.',
      ...objectRefs,
    },
    createdOnce: {
      description: 'The starter content of the plugin, which is not created again after a deletion.',
      ...objectRefs,
    },
    types: {
      description: 'The types that the plugin has declared. spec.deleteData removes the objects of these types.',
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'version', 'kind', 'singular', 'plural'],
        properties: {
          group: { type: 'string', description: 'The group.' },
          version: { type: 'string', description: 'The version.' },
          kind: { type: 'string', description: 'The kind.' },
          singular: { type: 'string', description: 'The name for one object.' },
          plural: { type: 'string', description: 'The name in paths.' },
        },
      },
    },
    upgrade: upgradeSchema,
    migrations: migrationsSchema,
    conditions: {
      description: 'Aspects of the plugin, such as its start and its reconcilers.',
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
        properties: conditionMembers,
      },
    },
  },
};

export const pluginSchema = {
  type: 'object',
  description: 'A plugin: types, routes and reconcilers that the server runs.',
  required: ['spec'],
  properties: { spec: specSchema, status: statusSchema },
};
