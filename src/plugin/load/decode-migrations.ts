import { isObject } from '../../base/guards.ts';
import { migrationIdLengthMax, migrationsPerPluginMax } from '../../limits/plugins.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import type { MountedMigration } from '../api/migration-mounts.ts';
import { decodeOwnType } from './own-type.ts';

const members = new Set(['id', 'type', 'up']);
const idForm = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/u;

/**
 * Decodes the `migrations` of a plugin's export, and adds their problems to `problems`. A plugin can migrate only its
 * exported types (`types`).
 */
export function decodeMigrations(
  exported: unknown,
  types: readonly unknown[],
  problems: string[],
): readonly MountedMigration[] {
  if (exported === undefined) return [];
  if (!Array.isArray(exported) || exported.length > migrationsPerPluginMax) {
    problems.push(`migrations: must be an array of at most ${String(migrationsPerPluginMax)} elements`);
    return [];
  }
  const ids = new Set<string>();
  return Array.from<unknown, MountedMigration | undefined>(exported, (declared, index) => {
    const at = `migrations[${String(index)}]`;
    const decoded = decodeMigration(declared, { at, types, problems });
    if (decoded !== undefined && ids.has(decoded.id))
      problems.push(`${at}.id: another migration has the id ${decoded.id}`);
    if (decoded !== undefined) ids.add(decoded.id);
    return decoded;
  }).filter((migration) => migration !== undefined);
}

type Decoding = {
  readonly at: string;
  readonly types: readonly unknown[];
  readonly problems: string[];
};

function decodeMigration(declared: unknown, { at, types, problems }: Decoding): MountedMigration | undefined {
  if (!isObject(declared)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  for (const member of Object.keys(declared))
    if (!members.has(member)) problems.push(`${at}.${member}: is not known${otherWords(member, [...members])}`);
  const { id, up } = declared;
  const type = decodeOwnType(declared['type'], `${at}.type`, { types, problems });
  const isId = typeof id === 'string' && id.length <= migrationIdLengthMax && idForm.test(id);
  if (!isId)
    problems.push(
      `${at}.id: must be at most ${String(migrationIdLengthMax)} lowercase letters, digits and dashes, the first and ` +
        'last a letter or digit',
    );
  if (typeof up !== 'function') problems.push(`${at}.up: must be a function`);
  if (!isId || type === undefined || typeof up !== 'function') return undefined;
  // Calls `up` with the declaration as `this`, so that the declaration may be an instance of a class.
  return {
    id,
    type,
    declared: up,
    up: (object) => {
      const migrated: unknown = Reflect.apply(up, declared, [object]);
      return migrated;
    },
  };
}
