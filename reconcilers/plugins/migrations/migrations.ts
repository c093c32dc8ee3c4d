import type { CausingEvent } from '../../../src/command/event.ts';
import type {
  MigrationMounts,
  MigrationProgress,
  MigrationState,
  MountedMigration,
} from '../../../src/plugin/api/migration-mounts.ts';
import type { Leadership } from '../../../src/read/leadership.ts';
import type { DeclarationFeed } from '../../../src/read/declarations.ts';
import type { ChangeFeed } from '../../../src/read/objects.ts';
import { MigrationRun } from './migration-run.ts';
import type { MigrationRunDependencies } from './run-dependencies.ts';

export type MigrationsDependencies = MigrationRunDependencies & {
  readonly changes: ChangeFeed;
  readonly leadership: Leadership;
  readonly declarations: Pick<DeclarationFeed, 'subscribe'>;
};

type Mounted = {
  readonly migrations: readonly MountedMigration[];
  readonly cause: CausingEvent | undefined;
  run: MigrationRun | undefined;
};

/** The migrations of plugins, which run on the leader. A failure of one plugin affects no other plugin. */
export class Migrations implements MigrationMounts {
  readonly #dependencies: MigrationsDependencies;
  readonly #mounted = new Map<string, Mounted>();
  /** By plugin: resolves when the last run has stopped. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(plugin: string) => void>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(dependencies: MigrationsDependencies) {
    this.#dependencies = dependencies;
    const { changes, declarations, leadership } = dependencies;
    this.#unsubscribe = [
      leadership.subscribe((leads) => {
        for (const plugin of this.#mounted.keys()) {
          this.#end(plugin);
          if (leads) this.#begin(plugin);
        }
      }),
      declarations.subscribe(() => {
        for (const { run } of this.#mounted.values()) run?.redeclared();
      }),
      changes.subscribe((batch) => {
        for (const { run } of this.#mounted.values())
          if (run !== undefined) for (const change of batch.changes) run.note(change);
      }),
    ];
  }

  mount(plugin: string, migrations: readonly MountedMigration[], cause: CausingEvent | undefined): void {
    this.#end(plugin);
    this.#mounted.set(plugin, { migrations, cause, run: undefined });
    if (this.#dependencies.leadership.isLeader()) this.#begin(plugin);
  }

  async unmount(plugin: string): Promise<void> {
    this.#end(plugin);
    this.#mounted.delete(plugin);
    await this.#ending.get(plugin);
  }

  of(plugin: string): MigrationState {
    return this.#mounted.get(plugin)?.run?.state() ?? { running: [], failures: [] };
  }

  subscribe(listener: (plugin: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Whether objects of the plugin wait for a step. */
  isBusy(plugin: string): boolean {
    return this.#mounted.get(plugin)?.run?.isBusy === true;
  }

  /** The progress of all migrations of this leader, for metrics. */
  progress(): readonly (MigrationProgress & { readonly plugin: string })[] {
    return [...this.#mounted].flatMap(([plugin, { run }]) =>
      (run?.tasks() ?? []).map((progress) => ({ ...progress, plugin })),
    );
  }

  /** Resolves when no object of any plugin waits for a step. */
  async idle(): Promise<void> {
    await Promise.all([...this.#ending.values()]);
    await Promise.all([...this.#mounted.values()].map(async ({ run }) => run?.idle()));
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const plugins = [...this.#mounted.keys(), ...this.#ending.keys()];
    await Promise.all(plugins.map(async (plugin) => this.unmount(plugin)));
  }

  /**
   * Begins after the stop of the previous run, so that no object has two concurrent steps, unless the stop timed out.
   */
  #begin(plugin: string): void {
    const mounted = this.#mounted.get(plugin);
    if (mounted === undefined) return;
    const before = this.#ending.get(plugin);
    if (before === undefined) {
      mounted.run = this.#runOf(plugin, mounted);
      return;
    }
    void before.then(() => {
      if (this.#mounted.get(plugin) !== mounted || mounted.run !== undefined) return;
      if (this.#dependencies.leadership.isLeader()) mounted.run = this.#runOf(plugin, mounted);
    });
  }

  #runOf(plugin: string, { migrations, cause }: Mounted): MigrationRun {
    this.#dependencies.steps.forget(plugin);
    const onChange = (): void => {
      for (const listener of this.#listeners) listener(plugin);
    };
    return new MigrationRun({ plugin, migrations, cause, onChange }, this.#dependencies);
  }

  #end(plugin: string): void {
    const mounted = this.#mounted.get(plugin);
    if (mounted?.run === undefined) return;
    const ended = Promise.all([this.#ending.get(plugin), mounted.run.stop()]).then(() => {
      if (this.#ending.get(plugin) === ended) this.#ending.delete(plugin);
    });
    mounted.run = undefined;
    this.#ending.set(plugin, ended);
  }
}
