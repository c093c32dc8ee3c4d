import type { CausingEvent } from '../../command/event.ts';
import type { ReconciledType } from './reconciler-mounts.ts';

/** A decoded migration. The result of `up` is validated at each call. */
export type MountedMigration = {
  /** Unique in its plugin. */
  readonly id: string;
  readonly type: ReconciledType;
  readonly up: (object: unknown) => unknown;
  /** The function in the plugin's code, which `up` calls. */
  readonly declared?: unknown;
};

/**
 * `waiting`: an earlier migration of the type is not done. `failing`: every object has been visited, and the migration
 * fails for some of them.
 */
export const migrationPhases = ['waiting', 'running', 'failing', 'done'] as const;
export type MigrationPhase = (typeof migrationPhases)[number];

export type MigrationProgress = {
  readonly id: string;
  /** The plural and group of the type. */
  readonly type: string;
  readonly phase: MigrationPhase;
  /** The number of stored objects of the type when the migration began. */
  readonly objects: number;
  readonly visited: number;
  /** The number of visited objects that the migration changed. */
  readonly changed: number;
  /** The number of objects for which the migration fails. */
  readonly failed: number;
};

/**
 * The progress of a migration, as stored in the status of the Plugin object. A new leader continues from this record.
 */
export type MigrationRecord = MigrationProgress & {
  /**
   * The name of the last visited object, in the order of names. Absent before the first object and after the last
   * object.
   */
  readonly after?: string | undefined;
  /** The event that started this version of the plugin, which is the cause of the migration's events. */
  readonly cause?: CausingEvent | undefined;
};

export type MigrationRecords = {
  read(plugin: string): readonly MigrationRecord[];
  /** Replaces the records of the plugin. Resolves with false if the write was refused. */
  write(plugin: string, records: readonly MigrationRecord[]): Promise<boolean>;
};

/**
 * The failures of a migration. `count` is the number of failing objects. `name`, `problem` and `trace` describe the
 * first failing object in the order of names.
 */
export type MigrationFailure = {
  readonly id: string;
  readonly type: string;
  readonly count: number;
  readonly name: string;
  readonly problem: string;
  /** The stack of the error that `up` threw. Undefined if `up` threw no error or an error without a stack. */
  readonly trace: string | undefined;
  /** The later migrations of the type, which wait for this migration. */
  readonly waiting: readonly string[];
};

/** The migrations of a plugin that are not done. */
export type MigrationState = {
  readonly running: readonly MigrationProgress[];
  readonly failures: readonly MigrationFailure[];
};

/** Runs the migrations of plugins on the leader. */
export type MigrationMounts = {
  /**
   * Runs the migrations that are not recorded as done. The plugin's types must already be served. `cause` is the event
   * that started the plugin.
   */
  mount(plugin: string, migrations: readonly MountedMigration[], cause: CausingEvent | undefined): void;
  /** Stops the migrations. Resolves when the writes in progress have ended. */
  unmount(plugin: string): Promise<void>;
  of(plugin: string): MigrationState;
  /** Calls the listener when the result of `of` may have changed. `listener` must not throw. */
  subscribe(listener: (plugin: string) => void): () => void;
};
