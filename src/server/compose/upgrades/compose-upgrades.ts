import { functionStack } from '../../../plugin/errors/function-place.ts';
import { limitedRuns } from '../../../plugin/packages/limited-steps.ts';
import { randomUUID } from 'node:crypto';

import { FailureLines } from '../../../../reconcilers/failure-lines.ts';
import { Migrations } from '../../../../reconcilers/plugins/migrations/migrations.ts';
import { StepWatch } from '../../../../reconcilers/plugins/migrations/step-watch.ts';
import { ObjectChecks } from '../../../../reconcilers/plugins/object-checks.ts';
import { streamRevision } from '../../../log/log.ts';
import type { MigrationRecords, MountedMigration } from '../../../plugin/api/migration-mounts.ts';
import type { PluginObjects } from '../../../plugin/objects/plugin-objects.ts';
import { isOutdated } from '../../../write/declared.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import type { Core } from '../core.ts';

/** The leader's work after an upgrade of a plugin. */
export type Upgrades = {
  readonly checks: ObjectChecks;
  readonly migrations: Migrations;
  readonly steps: StepWatch;
  /** Must be called after the read models have caught up. */
  open(): void;
  /** Resolves when no object of any plugin waits for a migration or a check on this node. */
  idle(): Promise<void>;
  stop(): Promise<void>;
};

/** `objects` returns the Plugin objects. Called only after the plugin host is composed. */
export function composeUpgrades(core: Core, objects: () => PluginObjects): Upgrades {
  const {
    models,
    registry,
    leadership,
    edge: { clock, log },
  } = core;
  const lines = new FailureLines(clock, (message, fields) => {
    log.error(message, fields);
  });
  const { migrations, steps } = composeMigrations(core, {
    read: (plugin) => objects().migrations(plugin),
    write: async (plugin, records) => objects().recordMigrations(plugin, records),
  });
  const checks = new ObjectChecks({
    rows: models,
    changes: models,
    registry,
    leadership,
    clock,
    mayBreak: (type) => mayBreak(core, type),
    isHeld: ({ plugin }) => migrations.isBusy(plugin),
    limited: limitedRuns,
    onError: (error, type) => {
      const message = 'could not check the stored objects of a type: invalid objects of the type are not reported';
      lines.failed(message, { key: type, attempts: 1 }, () => ({ type, error: String(error) }));
    },
  });
  const unsubscribe = migrations.subscribe(() => {
    checks.retry();
  });
  return {
    checks,
    migrations,
    steps,
    open: () => {
      checks.open();
    },
    idle: async () => {
      await migrations.idle();
      await checks.idle();
    },
    stop: async () => {
      unsubscribe();
      await Promise.all([checks.stop(), migrations.stop()]);
    },
  };
}

function composeMigrations(core: Core, records: MigrationRecords): Pick<Upgrades, 'migrations' | 'steps'> {
  const { models, registry, leadership, patiently, loggerOf, edge } = core;
  const steps = new StepWatch({
    functionStack,
    clock: edge.clock,
    warn: (plugin, message, fields) => {
      loggerOf(plugin).warn(message, fields);
    },
  });
  const lines = new FailureLines(edge.clock, (message, fields) => {
    edge.log.error(message, fields);
  });
  const typeOf = ({ group, version, plural }: MountedMigration['type']): ResourceType | undefined =>
    registry.byPath(group, version, plural)?.type;
  const migrations = new Migrations({
    rows: models,
    changes: models,
    leadership,
    clock: edge.clock,
    execute: patiently,
    records,
    steps,
    declarations: models.declarations,
    typeOf,
    isInForce: (named) => {
      const type = typeOf(named);
      return type !== undefined && !isOutdated(models.declarations, type.preferred ?? type);
    },
    uuid: randomUUID,
    onError: (error, plugin, attempts) => {
      lines.failed('the migrations of a plugin were interrupted; retrying', { key: plugin, attempts }, () => ({
        plugin,
        attempts,
        error: String(error),
      }));
    },
  });
  return { migrations, steps };
}

/**
 * Returns whether objects of a type may violate its schema. A type with a single declaration has accepted all its
 * objects, except for objects from before declarations were recorded. One page of their names shows whether such
 * objects may exist.
 */
function mayBreak({ models: { declarations, older } }: Core, { key }: ResourceType): boolean {
  if (declarations.declared(key)?.revision !== 0) return true;
  const page = older.page(key, streamRevision(0), undefined);
  return page.names.length > 0 || page.next !== undefined;
}
