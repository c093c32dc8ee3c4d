import { deepEqual } from '../../base/json.ts';
import { pluginMessageLengthMax } from '../../limits/plugins.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { isObject } from '../load/manifest.ts';
import type { PluginPhase } from '../objects/plugin-type.ts';

/** Why a plugin does not run: a fixed word, and what to mend. */
export type Failure = {
  readonly reason: string;
  readonly message: string;
  /** It may pass without a change of the plugin itself, once other plugins have changed. */
  readonly passing?: true;
};

/** Something to know about a plugin that does not keep it from running. */
export type Notice = { readonly type: 'ControllersIgnored' | 'ChangesKept' | 'VersionsDiffer' | 'IndexFunctionFailing' | 'ReconcilerStuck' | 'ReconcilerFailing' | 'UniqueNotEnforced'; readonly reason: string; readonly message: string };

export type PluginReport = {
  readonly phase: PluginPhase;
  /** Why, for one that does not run, or what keeps an uninstall from ending. */
  readonly failure?: Failure | undefined;
  readonly notices: readonly Notice[];
  /** The version that runs. */
  readonly version?: string | undefined;
  /** Percent of the indexes that are built. */
  readonly progress?: number | undefined;
  /** Not started, and not even loaded. */
  readonly isLoading?: boolean;
  /** Of the object that was acted upon; undefined while another version still runs. */
  readonly generation?: JsonValue | undefined;
};

const ready: Readonly<Record<PluginPhase, { readonly status: string; readonly reason: string; readonly message: string }>> = {
  'discovered': { status: 'False', reason: 'Discovered', message: 'it is known but not read yet' },
  'not-started': { status: 'False', reason: 'Starting', message: 'its indexes are being built and its objects applied' },
  'started': { status: 'True', reason: 'Started', message: 'its types and routes are served' },
  'stopping': { status: 'False', reason: 'Stopping', message: 'its registrations are being removed' },
  'stopped': { status: 'False', reason: 'Disabled', message: 'spec.enabled is false' },
  'failed': { status: 'False', reason: 'Failed', message: 'it failed to start' },
  'uninstalling': { status: 'False', reason: 'Uninstalling', message: 'its declarations are being removed' },
};

/** The status as a merge patch: members of it that are nobody's here stay. */
export function statusPatch(report: PluginReport, before: JsonObject, now: string): JsonObject {
  const observed = report.generation === undefined ? {} : { observedGeneration: report.generation };
  return { phase: report.phase, conditions: withTimes(conditionsOf(report), conditionsIn(before), now), version: report.version ?? null, progress: report.progress ?? null, ...observed };
}

/** Whether the status says all of this already. */
export function isTold(patch: JsonObject, status: JsonValue | undefined): boolean {
  const told = isObject(status) ? status : {};
  return Object.entries(patch).every(([member, value]) => (value === null ? told[member] === undefined : deepEqual(told[member] ?? null, value)));
}

const loading = { status: 'False', reason: 'Loading', message: 'its module is being loaded' };

function conditionsOf({ phase, failure, notices, progress, isLoading }: PluginReport): readonly JsonObject[] {
  const { status, reason, message } = isLoading === true ? loading : ready[phase];
  const far = progress === undefined ? message : `${message}: ${String(progress)} %`;
  return [
    { type: 'Ready', status, reason: failure?.reason ?? reason, message: shortened(failure?.message ?? far) },
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
