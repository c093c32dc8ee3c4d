import { isList, isObject } from '../../../base/guards.ts';
import { deepEqual } from '../../../base/json.ts';
import { pluginMessageLengthMax } from '../../../limits/plugins.ts';
import type { JsonObject, JsonValue } from '../../../resource/object/object.ts';
import type { PluginPhase } from '../../objects/plugin-type.ts';

/** The reason why a plugin does not run: an identifier, and a message with advice. */
export type Failure = {
  readonly reason: string;
  readonly message: string;
  /** Set if a change of another plugin may resolve the failure. */
  readonly isTransient?: true;
};

/** A problem of a plugin that does not prevent the plugin from running. */
export type Notice = {
  readonly type:
    | 'ControllersIgnored'
    | 'ChangesKept'
    | 'VersionsDiffer'
    | 'FrontEndMissing'
    | 'IndexFunctionFailing'
    | 'ObjectsUnconverted'
    | 'ReconcilerStuck'
    | 'ReconcilerFailing'
    | 'ReconcilerSpinning'
    | 'UniqueNotEnforced'
    | 'ObjectsInvalid'
    | 'RulesUnmatched'
    | 'ReferencesUnmatched'
    | 'Migrating'
    | 'MigrationFailing';
  readonly reason: string;
  readonly message: string;
};

export type PluginReport = {
  readonly phase: PluginPhase;
  /** The reason why the plugin does not run, or why its uninstall is incomplete. */
  readonly failure?: Failure | undefined;
  readonly notices: readonly Notice[];
  readonly version?: string | undefined;
  /** The progress of the index build, in percent. */
  readonly progress?: number | undefined;
  /** Whether the plugin's module is still loading. */
  readonly isLoading?: boolean;
  /**
   * The generation of the Plugin object that the report describes. Undefined while the plugin must stop but still runs,
   * so that the status keeps the previous `observedGeneration`.
   */
  readonly generation?: JsonValue | undefined;
};

const ready: Readonly<
  Record<PluginPhase, { readonly status: string; readonly reason: string; readonly message: string }>
> = {
  discovered: { status: 'False', reason: 'Discovered', message: 'the plugin is found but not loaded yet' },
  'not-started': {
    status: 'False',
    reason: 'Starting',
    message: 'building the indexes and applying the objects of the plugin',
  },
  started: { status: 'True', reason: 'Started', message: 'the types and routes of the plugin are served' },
  stopping: { status: 'False', reason: 'Stopping', message: 'removing the types and routes of the plugin' },
  stopped: { status: 'False', reason: 'Disabled', message: 'spec.enabled is false' },
  failed: { status: 'False', reason: 'Failed', message: 'the plugin failed to start' },
  uninstalling: { status: 'False', reason: 'Uninstalling', message: 'removing the objects of the plugin' },
};

/** Returns the status as a merge patch, which keeps unknown members of the status. */
export function statusPatch(report: PluginReport, before: JsonObject, now: string): JsonObject {
  const observed = report.generation === undefined ? {} : { observedGeneration: report.generation };
  return {
    phase: report.phase,
    conditions: withTimes(conditionsOf(report), conditionsIn(before), now),
    version: report.version ?? null,
    progress: report.progress ?? null,
    ...observed,
  };
}

export function isReported(patch: JsonObject, status: JsonValue | undefined): boolean {
  const current = isObject(status) ? status : {};
  return Object.entries(patch).every(([member, value]) =>
    value === null ? current[member] === undefined : deepEqual(current[member] ?? null, value),
  );
}

const loading = { status: 'False', reason: 'Loading', message: "loading the plugin's module" };

function conditionsOf({ phase, failure, notices, progress, isLoading }: PluginReport): readonly JsonObject[] {
  const { status, reason, message } = isLoading === true ? loading : ready[phase];
  const far = progress === undefined ? message : `${message}: ${String(progress)} %`;
  return [
    { type: 'Ready', status, reason: failure?.reason ?? reason, message: shortened(failure?.message ?? far) },
    ...notices.map((notice) => ({
      type: notice.type,
      status: 'True',
      reason: notice.reason,
      message: shortened(notice.message),
    })),
  ];
}

function shortened(message: string): string {
  return message.length > pluginMessageLengthMax ? `${message.slice(0, pluginMessageLengthMax)}…` : message;
}

/** Adds the transition times. An unchanged condition keeps its time. */
function withTimes(
  conditions: readonly JsonObject[],
  before: readonly JsonValue[],
  now: string,
): readonly JsonObject[] {
  return conditions.map((condition) => {
    const same = before.find(
      (other) => isObject(other) && deepEqual({ ...condition, lastTransitionTime: other['lastTransitionTime'] }, other),
    );
    return isObject(same) ? same : { ...condition, lastTransitionTime: now };
  });
}

function conditionsIn(object: JsonObject): readonly JsonValue[] {
  const { status } = object;
  const conditions = isObject(status) ? status['conditions'] : undefined;
  return isList(conditions) ? conditions : [];
}
