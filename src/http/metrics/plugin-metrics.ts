import type { MetricLibrary } from '../metric-library.ts';

/** The sources of the metrics of plugins' code. The values are read at each scrape. */
export type PluginSources = {
  readonly hooks: () => readonly HookCounts[];
  readonly conversions: () => readonly ConversionCounts[];
  readonly migrations: MigrationSource;
};

/** The progress of plugins' migrations on the leader, and the number of slow steps of each migration. */
export type MigrationSource = {
  readonly progress: () => readonly {
    readonly plugin: string;
    readonly id: string;
    readonly objects: number;
    readonly visited: number;
    readonly changed: number;
    readonly failed: number;
  }[];
  readonly slow: () => readonly { readonly plugin: string; readonly migration: string; readonly slow: number }[];
};

/** The number of slow calls and of failed calls of a type's hook. */
export type HookCounts = {
  readonly plugin: string;
  readonly type: string;
  readonly hook: string;
  readonly slow: number;
  readonly failed: number;
};

/** The number of slow calls of a function that converts objects between two versions of a type. */
export type ConversionCounts = {
  readonly plugin: string;
  readonly type: string;
  readonly conversion: string;
  readonly slow: number;
};

export function definePluginMetrics({ hooks, conversions, migrations }: PluginSources, library: MetricLibrary): void {
  defineHooks(hooks, library);
  defineConversions(conversions, library);
  defineMigrations(migrations, library);
}

function defineHooks(hooks: PluginSources['hooks'], { Counter, registers }: MetricLibrary): void {
  const count = (name: string, help: string, read: (counts: HookCounts) => number): void => {
    new Counter({
      name,
      help,
      labelNames: ['plugin', 'type', 'hook'],
      registers,
      collect() {
        this.reset();
        for (const counts of hooks()) {
          const { plugin, type, hook } = counts;
          if (read(counts) > 0) this.inc({ plugin, type, hook }, read(counts));
        }
      },
    });
  };
  count('ledgerplane_slow_hooks_total', 'Calls longer than 5 ms of hooks of types.', ({ slow }) => slow);
  count(
    'ledgerplane_failed_hooks_total',
    'Failed calls of hooks of types. Each refused a write.',
    ({ failed }) => failed,
  );
}

function defineConversions(conversions: PluginSources['conversions'], { Counter, registers }: MetricLibrary): void {
  new Counter({
    name: 'ledgerplane_slow_conversions_total',
    help: 'Calls longer than 5 ms of functions that convert objects between versions of a type.',
    labelNames: ['plugin', 'type', 'conversion'],
    registers,
    collect() {
      this.reset();
      for (const { plugin, type, conversion, slow } of conversions()) this.inc({ plugin, type, conversion }, slow);
    },
  });
}

function defineMigrations({ progress, slow }: MigrationSource, { Counter, Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_migration_objects',
    help: 'Objects of the migrations of plugins on the leader, by state: all, visited, changed and failed.',
    labelNames: ['plugin', 'migration', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { plugin, id: migration, objects, visited, changed, failed } of progress())
        for (const [state, count] of Object.entries({ all: objects, visited, changed, failed }))
          this.set({ plugin, migration, state }, count);
    },
  });
  new Counter({
    name: 'ledgerplane_slow_migration_steps_total',
    help: 'Calls longer than 5 ms of steps of migrations.',
    labelNames: ['plugin', 'migration'],
    registers,
    collect() {
      this.reset();
      for (const { plugin, migration, slow: count } of slow()) this.inc({ plugin, migration }, count);
    },
  });
}
