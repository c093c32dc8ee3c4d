import { pluginMessageLengthMax } from '../limits.ts';
import { deepEqual } from '../base/json.ts';
import type { Command } from '../command/command.ts';
import { actorOf, type Subject } from '../command/subject.ts';
import type { JsonObject, JsonValue } from '../resource/object.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import { applyObject, parseObject, rejectionText, type Applied, type ApplyDependencies } from './apply-object.ts';
import { isObject, type Manifest } from './manifest.ts';
import type { PluginPhase } from './plugin-type.ts';
import type { PluginLogger } from './plugin.ts';

/** Why a plugin does not run: a fixed word, and what to mend. */
export type Failure = { readonly reason: string; readonly message: string };

/** Something to know about a plugin that does not keep it from running. */
export type Notice = { readonly type: 'ControllersIgnored' | 'ChangesKept'; readonly reason: string; readonly message: string };

export type PluginReport = {
  readonly phase: PluginPhase;
  /** Why, for `failed`. */
  readonly failure?: Failure | undefined;
  readonly notices: readonly Notice[];
};

const subject: Subject = { kind: 'platform', part: 'plugins' };

/** The `Plugin` objects: what people want of each plugin, and where the host tells how it is. */
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

  /** Makes the object as the manifest says, people's changes kept. Without a manifest only its existence is seen to. */
  async ensure(name: string, manifest: Manifest | undefined): Promise<Applied> {
    if (manifest === undefined && this.#object(name) !== undefined) return { ok: true, kept: [] };
    const object: JsonObject = manifest?.object ?? { apiVersion: this.#type.apiVersion, kind: this.#type.kind, metadata: { name }, spec: {} };
    return applyObject({ type: this.#type, name, object, subject, plugin: name, origin: 'platform' }, this.#dependencies);
  }

  names(): readonly string[] {
    return this.#dependencies.reader.names(this.#type.key, { selection: { labels: [], fields: [] }, sort: [], window: { kind: 'all' } });
  }

  /** undefined: there is no such object. One that is going away is not wanted any more. */
  isEnabled(name: string): boolean | undefined {
    const object = this.#object(name);
    if (object === undefined) return undefined;
    const { spec, metadata } = object;
    return !(isObject(spec) && spec['enabled'] === false) && !(isObject(metadata) && metadata['deletionTimestamp'] !== undefined);
  }

  /** Grows with every change of spec; status leaves it alone. */
  generation(name: string): JsonValue | undefined {
    const metadata = this.#object(name)?.['metadata'];
    return isObject(metadata) ? metadata['generation'] : undefined;
  }

  phase(name: string): JsonValue | undefined {
    const status = this.#object(name)?.['status'];
    return isObject(status) ? status['phase'] : undefined;
  }

  /** A report that says nothing new writes nothing. */
  async report(name: string, report: PluginReport): Promise<void> {
    const before = this.#object(name);
    if (before === undefined) return;
    const now = new Date(this.#dependencies.clock.now()).toISOString();
    const status = { phase: report.phase, conditions: withTimes(conditionsOf(report), conditionsIn(before), now) };
    if (deepEqual(before['status'], status)) return;
    const command: Command = { type: 'patch', name, patch: { kind: 'merge', document: { status } }, part: 'status', preconditions: {} };
    const cause = { actor: actorOf(subject), verb: 'patch', requestId: this.#dependencies.uuid() };
    const outcome = await this.#dependencies.execute(this.#type, command, { cause, dryRun: false, fieldValidation: undefined, origin: 'platform', subject });
    if (!outcome.ok) this.#log.error('the status of a plugin could not be written', { plugin: name, phase: report.phase, detail: rejectionText(outcome.rejection) });
  }

  #object(name: string): JsonObject | undefined {
    const stored = this.#dependencies.reader.get(this.#type.key, name);
    return stored === undefined ? undefined : parseObject(stored.bytes);
  }
}

const ready: Readonly<Record<PluginPhase, { readonly status: string; readonly reason: string; readonly message: string }>> = {
  'not-started': { status: 'False', reason: 'Starting', message: 'its indexes are being built and its objects applied' },
  started: { status: 'True', reason: 'Started', message: 'its types and routes are served' },
  stopped: { status: 'False', reason: 'Disabled', message: 'spec.enabled is false' },
  failed: { status: 'False', reason: 'Failed', message: 'it could not be started' },
};

function conditionsOf({ phase, failure, notices }: PluginReport): readonly JsonObject[] {
  const { status, reason, message } = ready[phase];
  return [
    { type: 'Ready', status, reason: failure?.reason ?? reason, message: shortened(failure?.message ?? message) },
    ...notices.map((notice) => ({ type: notice.type, status: 'True', reason: notice.reason, message: shortened(notice.message) })),
  ];
}

function shortened(message: string): string {
  return message.length > pluginMessageLengthMax ? `${message.slice(0, pluginMessageLengthMax)}…` : message;
}

/** A condition that stays as it was keeps its time. */
function withTimes(conditions: readonly JsonObject[], before: readonly JsonValue[], now: string): readonly JsonObject[] {
  return conditions.map((condition) => {
    const same = before.find((other) => isObject(other) && deepEqual({ ...condition, lastTransitionTime: other['lastTransitionTime'] }, other));
    return isObject(same) ? same : { ...condition, lastTransitionTime: now };
  });
}

function conditionsIn(object: JsonObject): readonly JsonValue[] {
  const { status } = object;
  const conditions = isObject(status) ? status['conditions'] : undefined;
  return isArray(conditions) ? conditions : [];
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
