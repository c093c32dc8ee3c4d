import type { WriteContext } from '../../../src/command/command.ts';
import type { Rejection } from '../../../src/command/rejection.ts';
import { migrate, type Migrated, type MigrationStep } from '../../../src/command/upgrade/migrate.ts';
import { storedIn, type StoredRows } from '../../../src/command/upgrade/stored-rows.ts';
import { isObject } from '../../../src/base/guards.ts';
import { deepEqual } from '../../../src/base/json.ts';
import { writeAttemptsMax } from '../../../src/limits/writes.ts';
import type { JsonObject, ResourceObject } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { WriteRefusedError } from '../../outcome.ts';

/** The result for one object. `unchanged`: the object already has the new form, or no longer exists. */
export type ObjectMigrated =
  | { readonly kind: 'changed' | 'unchanged' }
  | { readonly kind: 'failed'; readonly problem: string; readonly thrown?: unknown };

export type ObjectMigration = {
  readonly type: ResourceType;
  readonly up: MigrationStep;
  readonly rows: StoredRows;
  readonly execute: Execute;
  readonly context: WriteContext;
  /** Runs a step and measures its duration. */
  readonly watch: (run: () => Migrated) => Migrated;
  /** Resolves when the next write may begin. */
  readonly mayWrite: () => Promise<void>;
};

/**
 * Migrates one object. After a concurrent write, the step runs again with the new state. Throws if the write may
 * succeed later.
 */
export async function migrateObject(name: string, migration: ObjectMigration): Promise<ObjectMigrated> {
  const { type, up, rows, watch, mayWrite } = migration;
  for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
    const stored = storedIn(rows, type, name);
    if (stored === undefined) return { kind: 'unchanged' };
    if (!stored.ok) return { kind: 'failed', problem: `cannot run: ${stored.problem}`, thrown: stored.thrown };
    const { object } = stored;
    const migrated = watch(() => migrate(up, object));
    if (!migrated.ok) return { kind: 'failed', ...migrated };
    if (migrated.object === undefined) return { kind: 'unchanged' };
    await mayWrite();
    const written = await writeParts({ object, next: migrated.object }, migration);
    if (written === 'written') return { kind: 'changed' };
    if (written.reason === 'not-found') return { kind: 'unchanged' };
    // The log is unavailable or the disk is full, so the writes of all other objects would fail too.
    if ('retryAfterSeconds' in written) throw new WriteRefusedError(written);
    if (written.reason !== 'stale-version')
      return { kind: 'failed', problem: `the result is refused: ${rejectionText(written)}` };
  }
  throw new Error(`could not migrate ${type.key}/${name}: the object changed during every attempt`);
}

type Written = {
  readonly object: ResourceObject;
  readonly next: JsonObject;
};

/** Writes the object. Also writes the status if the type has a status subresource and the step changed the status. */
async function writeParts({ object, next }: Written, migration: ObjectMigration): Promise<'written' | Rejection> {
  const { type, execute, context } = migration;
  const { name, uid, version } = object.metadata;
  const write = async (part: 'main' | 'status', expected: number): Promise<number | Rejection> => {
    const metadata = { ...metadataOf(next), name, uid, version: expected };
    const body = { ...next, apiVersion: type.apiVersion, kind: type.kind, metadata };
    const command = { type: 'replace', name, object: body, part, preconditions: {} } as const;
    const outcome = await execute(type, command, context);
    return outcome.ok ? outcome.version : outcome.rejection;
  };
  const hasOtherStatus = type.statusSubresource && !deepEqual(object['status'], next['status']);
  const main = await write('main', version);
  if (typeof main !== 'number') return main;
  const status = hasOtherStatus ? await write('status', main) : main;
  return typeof status === 'number' ? 'written' : status;
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {};
}

function rejectionText(rejection: Rejection): string {
  const violations = 'violations' in rejection ? rejection.violations : [];
  return violations.length === 0
    ? rejection.detail
    : violations
        .slice(0, 4)
        .map(({ pointer, detail }) => `${pointer} ${detail}`.trim())
        .join('; ');
}
