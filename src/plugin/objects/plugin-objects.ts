import type { CausingEvent } from '../../command/event.ts';
import { finalizerRemoval, withFinalizer } from '../../resource/object/finalizers.ts';
import { isList, isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import type { Command, WriteOutcome } from '../../command/command.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { PlatformSubject } from '../../command/subject.ts';
import { writeAttemptsMax } from '../../limits/writes.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import {
  applyObject,
  parseObject,
  rejectionText,
  type Application,
  type Applied,
  type ApplyDependencies,
} from './apply-object.ts';
import { type Manifest } from '../load/manifest.ts';
import { packageOf, withPackage, type PackageRef } from '../packages/package-store.ts';
import { memoryOf, memoryStatus, type PluginMemory } from '../lifecycle/plugin-memory.ts';
import { isReported, statusPatch, type PluginReport } from '../lifecycle/status/plugin-status.ts';
import type { MigrationRecord } from '../api/migration-mounts.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { migrationRecordsIn, migrationRecordsJson } from './migration-records.ts';

const subject: PlatformSubject = { kind: 'platform', part: 'plugins' };

/** Returns the finalizer that keeps a deleted `Plugin` object until the plugin is uninstalled. */
export function uninstallFinalizer(domain: string): string {
  return `plugin.${domain}/uninstall`;
}

/** The desired state in a `Plugin` object. */
export type DesiredPlugin = {
  /** The uid of the object. An object with another uid is another plugin, even if it has the same name. */
  readonly uid: JsonValue | undefined;
  readonly generation: JsonValue | undefined;
  readonly enabled: boolean;
  readonly isDeleted: boolean;
  readonly deleteData: boolean;
  readonly package: PackageRef | undefined;
};

/** The author and the options of a write. The default author is the platform. */
export type EnsuredBy = Partial<Pick<Application, 'subject' | 'cause' | 'expects' | 'decides' | 'dryRun'>>;

/** The uid of the object that a reconcile step processes, and the event that triggered the step. */
type Step = {
  readonly uid: JsonValue | undefined;
  readonly causedBy: CausingEvent | undefined;
};

/** The `Plugin` objects: the desired state of each plugin, and the status that the host reports. */
export class PluginObjects {
  readonly #type: ResourceType;
  readonly #dependencies: ApplyDependencies;
  readonly #log: PluginLogger;

  constructor(type: ResourceType, dependencies: ApplyDependencies, log: PluginLogger) {
    this.#type = type;
    this.#dependencies = dependencies;
    this.#log = log;
  }

  get key(): ResourceType['key'] {
    return this.#type.key;
  }

  /**
   * Creates the object from the manifest, or merges the manifest into the present object. A merge keeps the changes of
   * users. Without a manifest, creates an object with an empty `spec` if no object exists.
   */
  async ensure(
    name: string,
    manifest: Manifest | undefined,
    ref: PackageRef | undefined,
    by: EnsuredBy = {},
  ): Promise<Applied> {
    if (manifest === undefined && this.#object(name) !== undefined) return { ok: true, kept: [], isNew: false };
    const declared: JsonObject = manifest?.object ?? {
      apiVersion: this.#type.apiVersion,
      kind: this.#type.kind,
      metadata: { name },
      spec: {},
    };
    const object = withFinalizer(
      ref === undefined ? declared : withPackage(declared, ref),
      uninstallFinalizer(this.#dependencies.domain),
    );
    return applyObject(
      {
        type: this.#type,
        name,
        object,
        subject,
        plugin: name,
        origin: 'platform',
        ...by,
      },
      this.#dependencies,
    );
  }

  /** Returns the desired state; undefined if the plugin has no object. */
  desired(name: string): DesiredPlugin | undefined {
    const object = this.#object(name);
    if (object === undefined) return undefined;
    const spec = objectIn(object, 'spec');
    const metadata = objectIn(object, 'metadata');
    return {
      uid: metadata['uid'],
      generation: metadata['generation'],
      enabled: spec['enabled'] !== false,
      isDeleted: metadata['deletionTimestamp'] !== undefined,
      deleteData: spec['deleteData'] === true,
      package: packageOf(object),
    };
  }

  phase(name: string): JsonValue | undefined {
    return objectIn(this.#object(name) ?? {}, 'status')['phase'];
  }

  /** Returns the running version, otherwise the desired version. */
  version(name: string): string | undefined {
    const object = this.#object(name) ?? {};
    const version = objectIn(object, 'status')['version'] ?? objectIn(object, 'spec')['version'];
    return typeof version === 'string' ? version : undefined;
  }

  memory(name: string): PluginMemory {
    return memoryOf(this.#object(name));
  }

  /**
   * Records the objects and types of a plugin in the status. Record an object before the object is created, because an
   * uninstall does not find unrecorded objects. Returns false if the write was refused.
   */
  async remember(name: string, memory: PluginMemory): Promise<boolean> {
    const object = this.#object(name);
    const next = memoryStatus(memory);
    if (object === undefined || deepEqual(memoryStatus(memoryOf(object)), next)) return true;
    return this.#isDone(
      name,
      await this.#write(name, { status: next }, { part: 'status', uid: objectIn(object, 'metadata')['uid'] }),
    );
  }

  migrations(name: string): readonly MigrationRecord[] {
    return migrationRecordsIn(this.#object(name) ?? {});
  }

  /**
   * Replaces the records of migrations. Returns true if the records are stored, or if the object was deleted. Returns
   * false if other records were stored during the write: a delayed write of a deposed leader must not replace them.
   */
  async recordMigrations(name: string, records: readonly MigrationRecord[]): Promise<boolean> {
    const migrations = migrationRecordsJson(records);
    const replaced = this.#migrationsOf(name);
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const before = this.#object(name);
      const present = this.#migrationsOf(name);
      if (before === undefined || deepEqual(present, migrations)) return true;
      if (!deepEqual(present, replaced)) return false;
      const { uid, version } = objectIn(before, 'metadata');
      const outcome = await this.#write(name, { status: { migrations } }, { part: 'status', uid, version });
      // Retries after a failed precondition, because the other write may have changed another part of the object.
      if (outcome.ok || outcome.rejection.reason !== 'precondition-failed') return this.#isDone(name, outcome);
    }
    return false;
  }

  #migrationsOf(name: string): JsonValue {
    return objectIn(this.#object(name) ?? {}, 'status')['migrations'] ?? [];
  }

  /** Records the report of the last install or upgrade in the status. Does nothing if the object was deleted. */
  async recordUpgrade(name: string, upgrade: JsonObject): Promise<void> {
    this.#isDone(name, await this.#write(name, { status: { upgrade } }, { part: 'status' }));
  }

  /**
   * Writes a changed status, unless the object with this uid was deleted. A new object of the same name is another
   * plugin.
   */
  async report(name: string, report: PluginReport, { uid, causedBy }: Step): Promise<void> {
    const before = this.#object(name);
    if (before === undefined || objectIn(before, 'metadata')['uid'] !== uid) return;
    const status = statusPatch(report, before, new Date(this.#dependencies.clock.now()).toISOString());
    if (isReported(status, before['status'])) return;
    const outcome = await this.#write(name, { status }, { part: 'status', uid, causedBy });
    if (outcome.ok || outcome.rejection.reason !== 'stale-version') this.#isDone(name, outcome);
  }

  /** Makes the last step of an uninstall: removes the uninstall finalizer, so that the object can be removed. */
  async letGo(name: string, { uid, causedBy }: Step): Promise<boolean> {
    const ours = uninstallFinalizer(this.#dependencies.domain);
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const metadata = objectIn(this.#object(name) ?? {}, 'metadata');
      const finalizers = metadata['finalizers'];
      if (metadata['uid'] !== uid || !isList(finalizers) || !finalizers.includes(ours)) return true;
      const { resourceVersion } = metadata;
      const outcome = await this.#write(
        name,
        {
          metadata: {
            ...finalizerRemoval(finalizers, ours),
            ...(resourceVersion === undefined ? {} : { resourceVersion }),
          },
        },
        { part: 'main', uid, causedBy },
      );
      // After a conflict, the next attempt reads the object again, and keeps the changes of the other writer.
      if (outcome.ok || outcome.rejection.reason !== 'stale-version') return this.#isDone(name, outcome);
    }
    return false;
  }

  /** Writes to the object. If `uid` is defined, an object with another uid is not changed. */
  async #write(
    name: string,
    document: JsonObject,
    { part, uid, version, causedBy }: Partial<Step> & { readonly part: 'main' | 'status'; readonly version?: unknown },
  ): Promise<WriteOutcome> {
    const command: Command = {
      type: 'patch',
      name,
      patch: { kind: 'merge', document },
      part,
      preconditions: {
        ...(typeof uid === 'string' ? { uid } : {}),
        ...(typeof version === 'number' ? { ifMatch: [version] } : {}),
      },
    };
    const { execute, uuid } = this.#dependencies;
    return execute(this.#type, command, platformContext(subject, { verb: 'patch', requestId: uuid() }, causedBy));
  }

  /** Returns whether a write is done. A write to an object that was deleted in the meantime also counts as done. */
  #isDone(name: string, outcome: WriteOutcome): boolean {
    if (outcome.ok || outcome.rejection.reason === 'not-found') return true;
    this.#log.error('could not write a Plugin object', { plugin: name, detail: rejectionText(outcome.rejection) });
    return false;
  }

  #object(name: string): JsonObject | undefined {
    const stored = this.#dependencies.reader.get(this.#type.key, name);
    return stored === undefined ? undefined : parseObject(stored.bytes);
  }
}

function objectIn(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isObject(value) ? value : {};
}
