import { Migrations } from '../../../reconcilers/plugins/migrations/migrations.ts';
import { StepWatch } from '../../../reconcilers/plugins/migrations/step-watch.ts';
import { delay, type Clock } from '../../../src/base/clock.ts';
import { inSlices } from '../../../src/base/steps.ts';
import { serviceController } from '../../../src/base/service-controller.ts';
import { functionStack } from '../../../src/plugin/errors/function-place.ts';
import { PluginObjects } from '../../../src/plugin/objects/plugin-objects.ts';
import { pluginTypeDeclaration } from '../../../src/plugin/objects/plugin-type.ts';
import { storedVersionProblems } from '../../../src/plugin/packages/stored-versions.ts';
import type { Leadership } from '../../../src/read/leadership.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';
import { patient } from '../../../src/server/patient-execute.ts';
import { isOutdated } from '../../../src/write/declared.ts';
import { domain } from '../../support/sample.ts';
import type { Serving } from '../node/node-parts.ts';
import type { World } from '../world.ts';
import { stageOf } from './expected.ts';
import { stepsOf } from './stages.ts';

const name = 'example';
const ensureRetryMs = 500;

export const pluginType: ResourceType = compiledPlugin();

function compiledPlugin(): ResourceType {
  const declarer = { plugin: 'platform', bundled: true, domain };
  const compiled = compileType(pluginTypeDeclaration(domain), declarer);
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  // It is declared by no node, because its declaration never changes.
  return { ...compiled.type, declaration: undefined };
}

type Given = Pick<Serving, 'models' | 'execute'> & {
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** The type that this node serves. */
  readonly servedNow: () => ResourceType | undefined;
};

/** The plugin on one node: its migrations, which the leader runs, with their records in the Plugin object. */
export class NodePlugin {
  readonly #given: Given;
  readonly #objects: PluginObjects;
  readonly #migrations: Migrations;
  #mounted: ResourceType | undefined;

  constructor(world: World, given: Given) {
    const { uuid, coverage } = world;
    const { models, clock, leadership, servedNow } = given;
    const execute = patient(given.execute, { clock, signal: serviceController().signal });
    this.#given = given;
    this.#objects = new PluginObjects(pluginType, { execute, reader: models, clock, domain, uuid }, silent);
    const warn = (_plugin: string, message: string, fields: object): void => {
      // A rollback overtook an object that another node wrote in a newer version.
      const isUnknown = JSON.stringify(fields).includes('the type declares no version');
      if (isUnknown) coverage.note('a migration fails for an object in a newer version');
      else world.fail(new Error(`${message}: ${JSON.stringify(fields)}`));
    };
    this.#migrations = new Migrations({
      rows: models,
      changes: models,
      leadership,
      clock,
      execute,
      records: {
        read: (plugin) => this.#objects.migrations(plugin),
        write: async (plugin, records) => {
          for (const { phase } of records) coverage.note(`a migration is ${phase}`);
          return this.#objects.recordMigrations(plugin, records);
        },
      },
      steps: new StepWatch({ clock, warn, functionStack }),
      declarations: models.declarations,
      isInForce: ({ version }) => {
        const served = servedNow();
        return served?.version === version && !isOutdated(models.declarations, served);
      },
      typeOf: ({ version }) => {
        const served = servedNow();
        return served?.version === version ? served : undefined;
      },
      uuid: () => `migration ${uuid()}`,
      onError: () => {
        coverage.note('migrations are interrupted');
      },
    });
  }

  /** Why an older folder cannot replace the present files. */
  async problems(type: ResourceType): Promise<readonly string[]> {
    if (type.source !== 'folder') return [];
    const { models } = this.#given;
    const { declarations } = models;
    const { version } = stageOf(type);
    return storedVersionProblems(
      { types: [type], version },
      { declarations, storedVersions: storedVersionsIn(models) },
    );
  }

  /** The node serves the type from now on. */
  async mount(type: ResourceType): Promise<void> {
    this.#mounted = type;
    while (this.#mounted === type) {
      // Without the object, no progress is recorded.
      if (this.#given.models.get(pluginType.key, name) !== undefined) break;
      if (this.#given.leadership.isLeader()) await this.#objects.ensure(name, undefined, undefined);
      await delay(this.#given.clock, ensureRetryMs);
    }
    if (this.#mounted === type) this.#migrations.mount(name, stepsOf(stageOf(type)), undefined);
  }

  async unmount(): Promise<void> {
    this.#mounted = undefined;
    await this.#migrations.unmount(name);
  }

  /** Whether this node leads, and objects wait for a step. */
  get isMigrating(): boolean {
    return this.#migrations.isBusy(name);
  }
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function storedVersionsIn(models: Serving['models']): (type: TypeKey) => Promise<ReadonlySet<string>> {
  const slices = { isOver: () => false, next: async () => Promise.resolve() };
  return async (type) => inSlices(models.older.storedVersions(type), slices);
}
