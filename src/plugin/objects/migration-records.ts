import { isList, isObject } from '../../base/guards.ts';
import type { CausingEvent } from '../../command/event.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { migrationPhases, type MigrationRecord } from '../api/migration-mounts.ts';
import type { JsonSchema } from '../api/plugin.ts';

const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });

/** The schema of `status.migrations` of a Plugin. */
export const migrationsSchema = {
  type: 'array',
  description: 'The migrations of the running version, in the order in which they run.',
  items: {
    type: 'object',
    required: ['id', 'type', 'phase', 'objects', 'visited', 'changed', 'failed'],
    properties: {
      id: { type: 'string', description: 'The id of the migration.' },
      type: { type: 'string', description: 'The type: its plural and group.' },
      phase: {
        enum: [...migrationPhases],
        description:
          'waiting: for an earlier migration of the type; failing: every object was visited, and some fail. A ' +
          'migration that is done does not run again.',
      },
      objects: count('The stored objects when the migration began.'),
      visited: count('The objects that were visited.'),
      changed: count('The visited objects that were changed.'),
      failed: count('The objects that fail.'),
      after: { type: 'string', description: 'The last visited object, from which a new leader continues.' },
      cause: {
        type: 'object',
        description: 'The event that started this version of the plugin.',
        properties: {
          id: { type: 'string', description: 'The id of the event.' },
          correlationId: { type: 'string', description: 'The id of the request at the beginning of the chain.' },
        },
      },
    },
  },
};

/** Decodes the records in a Plugin object. Ignores invalid entries, so that their migrations run again. */
export function migrationRecordsIn(plugin: JsonObject): readonly MigrationRecord[] {
  const { status } = plugin;
  const records = isObject(status) ? status['migrations'] : undefined;
  return isList(records) ? records.map(recordIn).filter((record) => record !== undefined) : [];
}

function recordIn(value: unknown): MigrationRecord | undefined {
  if (!isObject(value)) return undefined;
  const { id, type, after } = value;
  const phase = migrationPhases.find((known) => known === value['phase']);
  if (typeof id !== 'string' || typeof type !== 'string' || phase === undefined) return undefined;
  const [objects = 0, visited = 0, changed = 0, failed = 0] = ['objects', 'visited', 'changed', 'failed'].map(
    (member) => (Number.isSafeInteger(value[member]) ? Number(value[member]) : 0),
  );
  const counts = { objects, visited, changed, failed };
  const cause = causeIn(value['cause']);
  return {
    ...{ id, type, phase, ...counts },
    ...(typeof after === 'string' ? { after } : {}),
    ...(cause === undefined ? {} : { cause }),
  };
}

function causeIn(value: unknown): CausingEvent | undefined {
  if (!isObject(value)) return undefined;
  const { id, correlationId } = value;
  return typeof id === 'string' && typeof correlationId === 'string' ? { id, correlationId } : undefined;
}

export function migrationRecordsJson(records: readonly MigrationRecord[]): JsonValue {
  return records.map(({ after, cause, ...record }) => ({
    ...record,
    ...(after === undefined ? {} : { after }),
    ...(cause === undefined ? {} : { cause }),
  }));
}
