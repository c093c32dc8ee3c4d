import type { JsonSchema } from '../api/plugin.ts';

const text = (description: string): JsonSchema => ({ type: 'string', description });
const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
const list = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'array',
  description,
  items: { type: 'object', required: Object.keys(properties), properties },
});

const type = text('The type: its plural and group.');

/** The schema of `status.upgrade` of a Plugin. */
export const upgradeSchema = {
  type: 'object',
  description: 'The comparison that the last install or upgrade made before it wrote anything.',
  properties: {
    from: text('The version before; empty for an install.'),
    to: text('The version that was installed.'),
    parts: {
      type: 'object',
      description: 'The parts of the version that was installed.',
      properties: {
        types: { type: 'array', items: { type: 'string' }, description: 'The kinds of the types.' },
        roles: count('The number of shipped roles.'),
        objects: count('The number of other shipped objects.'),
        routes: count('The number of routes and sockets.'),
        reconcilers: count('The number of reconcilers.'),
        pages: { type: 'boolean', description: 'Whether it adds pages to the console.' },
      },
    },
    removedTypes: list('The types that the new version does not have.', {
      type,
      kind: text('The kind.'),
      objects: count('The number of stored objects.'),
    }),
    removedVersions: list('The versions that are no longer served, of types that stay.', {
      type,
      version: text('The version.'),
    }),
    indexes: list('The indexes that are built again.', {
      type,
      name: text('The name of the index.'),
      change: { enum: ['added', 'changed', 'unique'], description: 'What changed; unique: the index became unique.' },
    }),
    required: list('The members that became required.', {
      type,
      pointer: text('A JSON pointer.'),
      lacking: count('The number of checked objects that lack the member after the conversion and the migrations.'),
    }),
    migrations: list('The migrations that run after the upgrade.', {
      id: text('The id of the migration.'),
      type,
      changes: count('The number of checked objects that it changes.'),
    }),
    objects: list('The stored objects of each type.', {
      type,
      stored: count('The number of stored objects.'),
      checked: count('The number of objects that were checked within the time limit.'),
      invalid: count('The number of checked objects that break the schema of the new version.'),
      failing: count('The number of checked objects for which the conversion or a migration fails.'),
    }),
    invalid: list('The first objects that break a schema, or for which the conversion or a migration fails.', {
      type,
      name: text('The name of the object.'),
      errors: {
        type: 'array',
        description: 'The first errors, each with its JSON pointer.',
        items: { type: 'object' },
      },
    }),
  },
};
