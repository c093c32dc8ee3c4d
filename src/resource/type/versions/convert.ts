import { deepEqual } from '../../../base/json.ts';
import { isObject } from '../../../base/guards.ts';
import { hookDetailLengthMax } from '../../../limits/rules.ts';
import { ForeignValueError, plainJson } from '../../object/foreign-json.ts';
import type { ResourceObject } from '../../object/object.ts';
import { shortJson } from '../../schema/schema-violations.ts';
import { frozen } from '../index-values.ts';
import type { ResourceType, TypeVersions } from '../resource-type.ts';

export type Conversion =
  | { readonly ok: true; readonly object: ResourceObject }
  /** `thrown`: the value that a function of the plugin threw. */
  | { readonly ok: false; readonly problem: string; readonly thrown?: unknown };

/**
 * Converts an object to the version of `type`, step by step between neighbouring versions. Without conversion
 * functions, only `apiVersion` and `kind` change, even for a version that the type does not declare.
 */
export function convert(object: ResourceObject, type: ResourceType): Conversion {
  if (object.apiVersion === type.apiVersion && object.kind === type.kind) return { ok: true, object };
  const { versions, apiVersion, kind } = type;
  if (versions === undefined || !hasFunctions(versions)) return { ok: true, object: { ...object, apiVersion, kind } };
  const [from, to] = [versions.all.indexOf(object.apiVersion), versions.all.indexOf(apiVersion)];
  if (from === -1) return { ok: false, problem: `the type declares no version ${JSON.stringify(object.apiVersion)}` };
  let converted: ResourceObject = { ...object, kind };
  try {
    for (let at = from; at < to; at += 1) converted = stepped(converted, versions, { from: at, to: at + 1 });
    for (let at = from; at > to; at -= 1) converted = stepped(converted, versions, { from: at, to: at - 1 });
    return { ok: true, object: converted };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { ok: false, problem: error.message, thrown: error.thrown };
  }
}

export function hasFunctions({ steps }: TypeVersions): boolean {
  return steps.some(({ up, down }) => up !== undefined || down !== undefined);
}

class StepError extends Error {
  readonly thrown: unknown;

  constructor(message: string, thrown: unknown) {
    super(message);
    this.thrown = thrown;
  }
}

/** The two versions of the conversion that runs now. Stays set if the call is interrupted. */
let running: string | undefined;

/** Returns the conversion, such as `v1alpha1 to v1`, that an interrupted call was running. */
export function interruptedConversion(): string | undefined {
  const interrupted = running;
  running = undefined;
  return interrupted;
}

function stepped(
  object: ResourceObject,
  { all, steps, calls }: TypeVersions,
  { from, to }: { readonly from: number; readonly to: number },
): ResourceObject {
  const apiVersion = all[to] ?? object.apiVersion;
  const step = steps[Math.min(from, to)];
  const run = to > from ? step?.up : step?.down;
  if (run === undefined) return { ...object, apiVersion };
  try {
    const conversion = `${versionIn(object.apiVersion)} to ${versionIn(apiVersion)}`;
    running = conversion;
    const result = calls.run(conversion, () => run(frozen(object)));
    running = undefined;
    return { ...resultOf(result, object), apiVersion };
  } catch (error) {
    running = undefined;
    const { fault, thrown } = faultOf(error);
    throw new StepError(`the conversion from ${object.apiVersion} to ${apiVersion} ${fault}`, thrown);
  }
}

function versionIn(apiVersion: string): string {
  return apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
}

/** Checks the result of a conversion function. Of the metadata, only annotations may change. */
function resultOf(result: unknown, given: ResourceObject): ResourceObject {
  if (result instanceof Promise) result.catch(() => undefined);
  if (typeof result !== 'object' || result === null)
    throw new ForeignValueError(`it is of type ${typeof result}, not an object: return the whole object`);
  const copy = plainJson(result, given);
  if (!isObject(copy))
    throw new ForeignValueError(`it is ${Array.isArray(copy) ? 'an array' : typeof copy}, not an object`);
  const { apiVersion: _apiVersion, kind = given.kind, metadata = given.metadata, ...members } = copy;
  if (kind !== given.kind)
    throw new ForeignValueError(
      `it has the kind ${shortJson(kind)}: return the kind of the given object, ${JSON.stringify(given.kind)}`,
    );
  const annotations = annotationsOf(metadata, given);
  const { annotations: _annotations, ...rest } = given.metadata;
  const kept = annotations === undefined ? rest : { ...rest, annotations };
  return { apiVersion: given.apiVersion, kind: given.kind, metadata: kept, ...members };
}

function annotationsOf(metadata: unknown, given: ResourceObject): Readonly<Record<string, string>> | undefined {
  if (metadata === given.metadata) return given.metadata.annotations;
  const { annotations, ...rest } = isObject(metadata) ? metadata : {};
  const { annotations: _annotations, ...expected } = given.metadata;
  if (!deepEqual(rest, expected)) {
    const changed = [...new Set([...Object.keys(expected), ...Object.keys(rest)])].filter(
      (member) => !deepEqual(memberOf(rest, member), memberOf(expected, member)),
    );
    throw new ForeignValueError(
      `it changes metadata; only annotations may change: return metadata.${changed[0] ?? ''} as it was given`,
    );
  }
  if (annotations === undefined) return undefined;
  if (!isTexts(annotations)) throw new ForeignValueError('/metadata/annotations is not an object of strings');
  return Object.keys(annotations).length === 0 ? undefined : annotations;
}

function memberOf(object: object, member: string): unknown {
  return Object.entries(object).find(([name]) => name === member)?.[1];
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** `thrown`: the value that the plugin's code threw. */
function faultOf(error: unknown): { readonly fault: string; readonly thrown?: unknown } {
  try {
    if (error instanceof ForeignValueError) return { fault: `returned a wrong result: ${error.message}` };
    const message = error instanceof Error ? error.message : `a value of type ${typeof error}`;
    return { fault: `threw: ${message.slice(0, hookDetailLengthMax)}`, thrown: error };
  } catch {
    // An error of a plugin may throw when the error is read.
    return { fault: 'threw an error that cannot be printed' };
  }
}
