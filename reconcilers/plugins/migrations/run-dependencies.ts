import type { Clock } from '../../../src/base/clock.ts';
import type { StoredRows } from '../../../src/command/upgrade/stored-rows.ts';
import type { MigrationRecords, MountedMigration } from '../../../src/plugin/api/migration-mounts.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { Execute } from '../../../src/write/execute.ts';
import type { StepWatch } from './step-watch.ts';

export type MigrationRunDependencies = {
  readonly rows: StoredRows;
  /** Executes a command; retries while the log is unavailable. */
  readonly execute: Execute;
  readonly records: MigrationRecords;
  readonly typeOf: (type: MountedMigration['type']) => ResourceType | undefined;
  /**
   * Whether the last declaration of the type in the log is that of this node. Otherwise, nodes may still write objects
   * in an earlier form, or a node with other files may have run later migrations.
   */
  readonly isInForce: (type: MountedMigration['type']) => boolean;
  readonly steps: StepWatch;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, plugin: string, attempts: number) => void;
};
