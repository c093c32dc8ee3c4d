import { isList, isObject } from '../../../base/guards.ts';
import { deepEqual } from '../../../base/json.ts';
import { pluginMessageLengthMax } from '../../../limits/plugins.ts';
import type { JsonObject, JsonValue } from '../../../resource/object/object.ts';
import type { PluginPhase } from '../../objects/plugin-type.ts';

/** The reason why a plugin does not run: a fixed reason, and a message with advice. */
export type Failure = {
  readonly reason: string;
  readonly message: string;
  /** Other plugins' changes may resolve it. */
  readonly isTransient?: true;
};

/** A problem of a plugin that does not stop it. */
export type Notice = {
  readonly type:
    | 'ControllersIgnored'
    | 'ChangesKept'
    | 'VersionsDiffer'
    | 'IndexFunctionFailing'
    | 'ReconcilerStuck'
    | 'ReconcilerFailing'
    | 'UniqueNotEnforced';
  readonly reason: string;
  readonly message: string;
};

export type PluginReport = {
  readonly phase: PluginPhase;
  /** The reason why the plugin does not run, or why its uninstall is incomplete. */
  readonly failure?: Failure | undefined;
  readonly notices: readonly Notice[];
  /** The running version. */
  readonly version?: string | undefined;
  /** The share of the indexes that are built, in percent. */
  readonly progress?: number | undefined;
  /** Its module is still loading. */
  readonly isLoading?: boolean;
  /** The generation of the observed object; undefined while another version still runs. */
  readonly generation?: JsonValue | undefined;
};

const ready: Readonly<
  Record<PluginPhase, { readonly status: string; readonly reason: string; readonly message: string }>
> = {
  discovered: { status: 'False', reason: 'Discovered', message: 'it is known but not read yet' },
  'not-started': {
    status: 'False',
    reason: 'Starting',
    message: 'its indexes are being built and its objects applied',
  },
  started: { status: 'True', reason: 'Started', message: 'its types and routes are served' },
  stopping: { status: 'False', reason: 'Stopping', message: 'its registrations are being removed' },
  stopped: { status: 'False', reason: 'Disabled', message: 'spec.enabled is false' },
  failed: { status: 'False', reason: 'Failed', message: 'it failed to start' },
  uninstalling: { status: 'False', reason: 'Uninstalling', message: 'its objects are being removed' },
};

/** The status as a merge patch: unknown members stay. */
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

/** Whether the status already contains the patch. */
export function isReported(patch: JsonObject, status: JsonValue | undefined): boolean {
  const current = isObject(status) ? status : {};
  return Object.entries(patch).every(([member, value]) =>
    value === null ? current[member] === undefined : deepEqual(current[member] ?? null, value),
  );
}

const loading = { status: 'False', reason: 'Loading', message: 'loading its module' };

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

/** An unchanged condition keeps its time. */
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
