import { callLater, delay, within } from '../../../src/base/clock.ts';
import { serviceController } from '../../../src/base/service-controller.ts';
import { backgroundSliceMs, Slices } from '../../../src/base/slices.ts';
import { inSlices, type Steps } from '../../../src/base/steps.ts';
import type { WriteContext } from '../../../src/command/command.ts';
import type { CausingEvent } from '../../../src/command/event.ts';
import { actorOf } from '../../../src/command/subject.ts';
import { eachName, type StoredRows } from '../../../src/command/upgrade/stored-rows.ts';
import {
  migrationConcurrencyMax,
  migrationPageNames,
  migrationRecheckMs,
  migrationRecordMs,
  migrationRetryMs,
  migrationRetryMsMax,
  migrationStopMs,
  migrationWritesPerSecondMax,
} from '../../../src/limits/plugins.ts';
import type { MigrationState, MountedMigration } from '../../../src/plugin/api/migration-mounts.ts';
import type { Change } from '../../../src/read/objects.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { Wake } from '../../wake.ts';
import { migrateObject, type ObjectMigration } from './migrate-object.ts';
import { MigrationTask } from './migration-task.ts';
import type { MigrationRunDependencies } from './run-dependencies.ts';
import { Pace } from './pace.ts';

export type RunOptions = {
  readonly plugin: string;
  readonly migrations: readonly MountedMigration[];
  readonly cause: CausingEvent | undefined;
  readonly onChange: () => void;
};

/**
 * The migrations of a plugin during one term of the leader. A migration waits until all earlier migrations of the same
 * type are done. The progress is recorded at intervals; after a crash, the objects since the last record are visited
 * again.
 *
 * A write of a deposed leader is harmless, because the write requires the version that the step received.
 */
export class MigrationRun {
  readonly #dependencies: MigrationRunDependencies;
  readonly #options: RunOptions;
  readonly #tasks: readonly MigrationTask[];
  readonly #cause: CausingEvent | undefined;
  readonly #context: WriteContext;
  readonly #pace: Pace;
  readonly #wake = new Wake();
  readonly #ending = serviceController();
  readonly #running: Promise<void>;
  #idle: (() => void)[] = [];
  /** Whether records of migrations that the plugin does not declare must be removed. */
  #isOutdated: boolean;
  #recordedAtMs = 0;
  #failures = 0;
  #isVisitingAgain = false;

  constructor(options: RunOptions, dependencies: MigrationRunDependencies) {
    this.#dependencies = dependencies;
    this.#options = options;
    const { plugin, migrations } = options;
    const { records, clock, uuid } = dependencies;
    const recorded = new Map(records.read(plugin).map((record) => [record.id, record]));
    this.#tasks = migrations.map((migration) => new MigrationTask(migration, recorded.get(migration.id)));
    this.#isOutdated = [...recorded.keys()].some((id) => !migrations.some((migration) => migration.id === id));
    const unfinished = this.#tasks.find(({ phase }) => phase !== 'done')?.migration.id ?? '';
    this.#cause = recorded.get(unfinished)?.cause ?? options.cause;
    this.#pace = new Pace(clock, migrationWritesPerSecondMax);
    const subject = { kind: 'plugin', name: plugin } as const;
    this.#context = {
      subject,
      cause: { actor: actorOf(subject), verb: 'update', requestId: uuid(), plugin },
      causedBy: this.#cause,
      dryRun: false,
      fieldValidation: undefined,
      origin: 'plugin',
    };
    this.#order();
    this.#running = this.#run(this.#ending.signal);
  }

  /**
   * Whether an object is visited, or waits for a step. A failing object waits only after a change, or when all objects
   * are visited again.
   */
  get isBusy(): boolean {
    return !this.#ending.signal.aborted && (this.#isVisitingAgain || this.#next() !== undefined);
  }

  state(): MigrationState {
    return {
      running: this.#tasks.filter(({ phase }) => phase === 'running').map((task) => task.progress()),
      failures: this.#tasks.map((task) => task.failure(this.#tasks)).filter((failure) => failure !== undefined),
    };
  }

  tasks(): readonly ReturnType<MigrationTask['progress']>[] {
    return this.#tasks.map((task) => task.progress());
  }

  /** Migrates failing objects again after a change. */
  note({ type, name }: Pick<Change, 'type' | 'name'>): void {
    for (const task of this.#tasks) {
      if (task.key !== type || !task.failing.has(name)) continue;
      task.again.add(name);
      this.#wake.call();
    }
  }

  /** Must be called when the log has another declaration of a type. */
  redeclared(): void {
    this.#wake.call();
  }

  /** Resolves when no object is visited or waits for a step. */
  async idle(): Promise<void> {
    while (this.isBusy)
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  /** Resolves when the writes in progress have ended, or after `migrationStopMs`. */
  async stop(): Promise<void> {
    this.#ending.abort();
    const { clock } = this.#dependencies;
    await within(this.#running, { clock, ms: migrationStopMs, signal: serviceController().signal });
  }

  #next(): MigrationTask | undefined {
    return this.#tasks.find(
      (task) =>
        task.phase !== 'done' &&
        task.phase !== 'waiting' &&
        (task.isDue || task.again.size > 0) &&
        this.#isInForce(task),
    );
  }

  #isInForce({ migration: { type } }: MigrationTask): boolean {
    return this.#dependencies.isInForce(type);
  }

  /** Lets only the first unfinished migration of each type run. */
  #order(): void {
    const begun = new Set<string>();
    for (const task of this.#tasks) {
      if (task.phase === 'done') continue;
      if (begun.has(task.key)) task.phase = 'waiting';
      else if (task.phase === 'waiting') task.phase = 'running';
      begun.add(task.key);
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    // The run begins after the synchronous code that serves the plugin.
    await Promise.resolve();
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      const task = this.#next();
      try {
        if (task !== undefined) await (task.isDue ? this.#visitAll(task, signal) : this.#visitAgain(task, signal));
        else if (this.#isOutdated && this.#tasks.every((each) => this.#isInForce(each))) await this.#record();
        else {
          this.#rest();
          await this.#wake.next(signal);
        }
        this.#failures = 0;
      } catch (error) {
        if (isOver()) break;
        this.#failures += 1;
        this.#dependencies.onError(error, this.#options.plugin, this.#failures);
        const ms = Math.min(migrationRetryMs * 2 ** this.#failures, migrationRetryMsMax);
        await delay(this.#dependencies.clock, ms, signal);
      }
    }
    this.#rest();
  }

  #rest(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #visitAll(task: MigrationTask, signal: AbortSignal): Promise<void> {
    const { rows, clock } = this.#dependencies;
    if (task.after === undefined) {
      task.begin(await inSlices(countOf(rows, task), new Slices(clock, backgroundSliceMs)));
      if (task.objects > 0) await this.#record();
    }
    for (;;) {
      const names = rows.namesOf(task.key, { after: task.after, limit: migrationPageNames });
      const last = names.at(-1);
      if (last === undefined) break;
      await this.#visit(task, names, signal);
      if (signal.aborted) return;
      task.after = last;
      task.visited += names.length;
      if (clock.monotonic() - this.#recordedAtMs >= migrationRecordMs) await this.#record();
    }
    if (!this.#isInForce(task)) return;
    task.isDue = false;
    task.after = undefined;
    await this.#conclude(task, signal);
  }

  async #visitAgain(task: MigrationTask, signal: AbortSignal): Promise<void> {
    const names = [...task.again];
    task.again.clear();
    this.#isVisitingAgain = true;
    try {
      await this.#visit(task, names, signal);
    } finally {
      this.#isVisitingAgain = false;
    }
    if (!signal.aborted) await this.#conclude(task, signal);
  }

  /**
   * Ends a pass. With failing objects, all objects are visited again later, since another change may resolve a failure.
   */
  async #conclude(task: MigrationTask, signal: AbortSignal): Promise<void> {
    const { clock } = this.#dependencies;
    if (task.failed > 0) {
      task.phase = 'failing';
      callLater(clock, { ms: migrationRecheckMs, signal }, () => {
        task.isDue = task.phase === 'failing';
        this.#wake.call();
      });
    } else task.phase = 'done';
    this.#order();
    await this.#record().catch((error: unknown) => {
      // The end of the pass is not recorded, so the pass is repeated.
      [task.isDue, task.phase] = [true, 'running'];
      throw error;
    });
  }

  /** Visits the objects, a few of them concurrently. */
  async #visit(task: MigrationTask, names: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, steps } = this.#dependencies;
    const type = this.#dependencies.typeOf(task.migration.type);
    if (type === undefined) throw new Error(`could not migrate ${task.key}: the type is not served`);
    const migration = this.#migrationOf(task, type, signal);
    const slices = new Slices(clock, backgroundSliceMs);
    const waiting = names.values();
    const { id, declared } = task.migration;
    const visitNext = async (): Promise<void> => {
      for (const name of waiting) {
        if (signal.aborted) return;
        const visited = await migrateObject(name, migration);
        if (visited.kind === 'failed') task.fail(name, steps.failed({ type, id, name, declared }, visited));
        else task.failing.delete(name);
        if (visited.kind === 'changed') task.changed += 1;
        if (slices.isOver()) await slices.next();
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: migrationConcurrencyMax }, visitNext));
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  #migrationOf({ migration: { id, up } }: MigrationTask, type: ResourceType, signal: AbortSignal): ObjectMigration {
    const { rows, execute, steps } = this.#dependencies;
    return {
      type,
      up,
      rows,
      execute,
      context: this.#context,
      watch: (run) => steps.run({ type, id }, run),
      mayWrite: async () => this.#pace.next(signal),
    };
  }

  /** Records the progress of all migrations of the plugin in the Plugin object. */
  async #record(): Promise<void> {
    const { records, clock } = this.#dependencies;
    this.#recordedAtMs = clock.monotonic();
    const isWritten = await records.write(
      this.#options.plugin,
      this.#tasks.map((task) => task.record(task.phase === 'done' ? undefined : this.#cause)),
    );
    if (!isWritten) throw new Error('could not record the progress of migrations');
    this.#isOutdated = false;
    this.#options.onChange();
  }
}

function* countOf(rows: StoredRows, { key }: MigrationTask): Steps<number> {
  let count = 0;
  yield* eachName(rows, { type: key }, () => {
    count += 1;
  });
  return count;
}
