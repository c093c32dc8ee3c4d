import type {
  MigrationFailure,
  MigrationPhase,
  MigrationProgress,
  MigrationRecord,
  MountedMigration,
} from '../../../src/plugin/api/migration-mounts.ts';
import { migrationFailuresKnownMax } from '../../../src/limits/plugins.ts';
import { typeKeyOf } from '../../../src/resource/type/type-declaration.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';

export type ObjectFailure = {
  readonly problem: string;
  readonly trace: string | undefined;
};

/** One migration in one term of the leader. */
export class MigrationTask {
  readonly migration: MountedMigration;
  readonly key: TypeKey;
  phase: MigrationPhase = 'waiting';
  objects = 0;
  visited = 0;
  changed = 0;
  /** Every object up to this name was visited in this pass; undefined before the first page of names. */
  after: string | undefined;
  /** Whether the objects after `after` must be visited. */
  isDue = true;
  readonly failing = new Map<string, ObjectFailure>();
  /** The number of failing objects that `failing` has no room for. */
  others = 0;
  /** The names in `failing` of the objects that were written after the failure. */
  readonly again = new Set<string>();

  /**
   * Continues after the recorded name. Begins again if objects had failed, because the record does not name the failed
   * objects.
   */
  constructor(migration: MountedMigration, record: MigrationRecord | undefined) {
    this.migration = migration;
    this.key = typeKeyOf(migration.type.group, migration.type.plural);
    if (record === undefined) return;
    if (record.phase === 'done') [this.phase, this.isDue] = ['done', false];
    if (record.phase !== 'done' && record.failed > 0) return;
    [this.objects, this.visited, this.changed] = [record.objects, record.visited, record.changed];
    this.after = record.after;
  }

  get failed(): number {
    return this.failing.size + this.others;
  }

  begin(objects: number): void {
    [this.objects, this.visited, this.changed, this.others] = [objects, 0, 0, 0];
    this.failing.clear();
    this.again.clear();
  }

  fail(name: string, failure: ObjectFailure): void {
    if (this.failing.has(name) || this.failing.size < migrationFailuresKnownMax) this.failing.set(name, failure);
    else this.others += 1;
  }

  progress(): MigrationProgress {
    const { phase, objects, visited, changed, failed } = this;
    return {
      id: this.migration.id,
      type: this.key,
      phase,
      objects,
      visited,
      changed,
      failed,
    };
  }

  record(cause: MigrationRecord['cause']): MigrationRecord {
    const { after } = this;
    return {
      ...this.progress(),
      ...(after === undefined ? {} : { after }),
      ...(cause === undefined ? {} : { cause }),
    };
  }

  /** Returns the failure of the first failing object; undefined without one. `all`: the migrations of the plugin. */
  failure(all: readonly MigrationTask[]): MigrationFailure | undefined {
    const [name] = [...this.failing.keys()].sort();
    const first = name === undefined ? undefined : this.failing.get(name);
    if (name === undefined || first === undefined) return undefined;
    const waiting = all.filter((task) => task.phase === 'waiting' && task.key === this.key);
    return {
      id: this.migration.id,
      type: this.key,
      count: this.failed,
      name,
      ...first,
      waiting: waiting.map(({ migration: { id } }) => id),
    };
  }
}
