import type { Test } from 'tap';

import { Migrations } from '../../../reconcilers/plugins/migrations/migrations.ts';
import { StepWatch } from '../../../reconcilers/plugins/migrations/step-watch.ts';
import type { MigrationRecord, MountedMigration } from '../../../src/plugin/api/migration-mounts.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { body, create, widgets, widgetType } from '../../support/given.ts';
import { Leading } from '../../support/leading.ts';
import { shown, Writing } from '../../support/writing.ts';
import { functionStack } from '../../../src/plugin/errors/function-place.ts';

type Given = { readonly metadata: { readonly name: string }; readonly spec: Readonly<Record<string, unknown>> };

export type StageOptions = {
  readonly type?: ResourceType;
  /** Stands before the write door. */
  readonly through?: (execute: Execute) => Execute;
};

/** The migrations of the plugin `example` over the real write door, with records in memory. */
export class MigrationStage {
  readonly writing: Writing;
  readonly leadership = new Leading(true);
  readonly migrations: Migrations;
  readonly lines: (readonly [string, Readonly<Record<string, unknown>>])[] = [];
  readonly errors: string[] = [];
  records: readonly MigrationRecord[] = [];
  /** The phase of each record of each write. */
  readonly written: string[] = [];
  /** Refuses writes of records. */
  isRecordless = false;
  isInForce = true;
  readonly #onDeclared = new Set<() => void>();
  readonly #type: ResourceType;

  private constructor(writing: Writing, { type = widgets, through = (execute) => execute }: StageOptions) {
    this.writing = writing;
    this.#type = type;
    const { models, clock, execute } = writing;
    let ids = 0;
    this.migrations = new Migrations({
      rows: models,
      changes: models,
      leadership: this.leadership,
      clock,
      execute: through(execute),
      declarations: {
        subscribe: (listener) => {
          const call = (): void => {
            listener(widgets.key);
          };
          this.#onDeclared.add(call);
          return () => this.#onDeclared.delete(call);
        },
      },
      isInForce: () => this.isInForce,
      typeOf: () => this.#type,
      steps: new StepWatch({
        functionStack,
        clock,
        warn: (_plugin, message, fields) => {
          this.lines.push([message, fields]);
        },
      }),
      records: {
        read: () => this.records,
        write: async (_plugin, records) => {
          if (this.isRecordless) return Promise.resolve(false);
          this.records = records;
          this.written.push(records.map(({ phase }) => phase).join(' '));
          return Promise.resolve(true);
        },
      },
      uuid: () => {
        ids += 1;
        return `request-${String(ids)}`;
      },
      onError: (error) => {
        this.errors.push(String(error));
      },
    });
  }

  static async open(t: Test, options: StageOptions = {}): Promise<MigrationStage> {
    const writing = await Writing.open(t, options.type === undefined ? {} : { type: options.type });
    const stage = new MigrationStage(writing, options);
    t.teardown(async () => stage.migrations.stop());
    return stage;
  }

  async fill(names: readonly string[], spec: Readonly<Record<string, string | number>> = {}): Promise<void> {
    for (const name of names)
      shown(await this.writing.write(create(body({ metadata: { name }, spec: { title: name, ...spec } }))));
  }

  /** Mounts the migrations as a new version of the plugin does, and waits until no object waits for a step. */
  async run(...migrations: readonly MountedMigration[]): Promise<void> {
    this.migrations.mount('example', migrations, { id: 'upgrade', correlationId: 'request' });
    await this.idle();
  }

  /** The log has another declaration of the type, which is or is not that of this node. */
  declare(isInForce: boolean): void {
    this.isInForce = isInForce;
    for (const call of this.#onDeclared) call();
  }

  async idle(): Promise<void> {
    await this.writing.settle(this.migrations.idle());
  }

  spec(name: string): unknown {
    return this.writing.object(name)?.['spec'];
  }
}

const type = { group: 'example.com', version: 'v1', plural: 'widgets' };

/** A migration of widgets. `up` gets the spec and returns the changed members of it. */
export function migration(
  id: string,
  up: (spec: Given['spec'], object: Given) => Readonly<Record<string, unknown>> | undefined,
): MountedMigration {
  return {
    id,
    type,
    up: (object) => {
      const given = object as Given;
      const changes = up(given.spec, given);
      return changes === undefined ? undefined : { ...given, spec: { ...given.spec, ...changes } };
    },
  };
}

/** Sets the size of widgets without one. */
export const sizing = migration('set-size', ({ size }) => (size === undefined ? { size: 1 } : undefined));

export const withStatus = widgetType({ statusSubresource: true });
