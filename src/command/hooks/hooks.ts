import { deepEqual } from '../../base/json.ts';
import { isList, isObject } from '../../base/guards.ts';
import { hookDetailLengthMax } from '../../limits/rules.ts';
import { validationErrorsMax } from '../../limits/requests.ts';
import { draftOf, type Draft } from '../../resource/object/draft.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import { frozen } from '../../resource/type/index-values.ts';
import { isReservedLabel } from '../../resource/type/names.ts';
import type { HookName, ResourceType, Violation } from '../../resource/type/resource-type.ts';
import type { Part } from '../command.ts';
import type { Facts } from '../facts.ts';
import { ForeignValueError, plainJson } from '../../resource/object/foreign-json.ts';
import { newViolations } from '../ratcheting.ts';
import { actorOf } from '../subject.ts';

export type HookContext = {
  readonly operation: 'create' | 'update' | 'status' | 'delete';
  readonly user: { readonly name: string };
  /** The time of the write (RFC 3339, UTC, milliseconds). */
  readonly now: string;
};

/** A hook threw, or returned a wrong result. The plugin is at fault, not the writer. */
type Fault = {
  readonly problem: string;
  readonly thrown?: unknown;
};
type Called<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export type Completed =
  /** `draft` is the completed object, decoded like a client's object; undefined if the hook changes nothing. */
  { readonly ok: true; readonly draft: Draft | undefined } | { readonly ok: false; readonly fault: () => Violation };

/**
 * Returns the object that the hook `default` has completed. The hook may not change apiVersion, kind, metadata that the
 * server manages, or reserved labels.
 */
export function completeByHook(object: ResourceObject, operation: HookContext['operation'], facts: Facts): Completed {
  const { type } = facts;
  if (type.hooks?.default === undefined) return { ok: true, draft: undefined };
  const called = call('default', [object, contextOf(operation, facts)], facts, (result) =>
    result === undefined || result === null ? undefined : completedObject(result, object, facts),
  );
  return called.ok
    ? { ok: true, draft: called.value }
    : { ok: false, fault: () => faultOf(type, 'default', called.fault, facts) };
}

function completedObject(result: unknown, given: ResourceObject, facts: Facts): Draft | undefined {
  const copy = plainJson(result, given);
  if (copy === given) return undefined;
  if (!isObject(copy)) throw new ForeignValueError(`it is ${kindOf(result)}, not an object or undefined`);
  const { metadata } = copy;
  const {
    labels: _labels,
    annotations: _annotations,
    finalizers: _finalizers,
    ownerReferences: _owners,
    ...managed
  } = isObject(metadata) ? metadata : {};
  const { labels = {}, annotations: _1, finalizers: _2, ownerReferences: _3, ...expected } = given.metadata;
  if (copy['apiVersion'] !== given.apiVersion || copy['kind'] !== given.kind || !deepEqual(managed, expected))
    throw new ForeignValueError(
      'it changes apiVersion, kind or metadata that the server manages; only labels, annotations, finalizers and ' +
        'ownerReferences of the metadata may change',
    );
  // The copy is decoded like the body of a request, so metadata that the server manages is not taken from the copy.
  const draft = draftOf(copy);
  const reserved = Object.entries(draft.labels ?? {}).find(
    ([key, value]) => labels[key] !== value && isReservedLabel(key, facts.domain),
  );
  if (reserved !== undefined)
    throw new ForeignValueError(`it sets the label ${JSON.stringify(reserved[0])}, which is reserved for the platform`);
  return draft;
}

type Judged = {
  readonly next: ResourceObject;
  /** The stored object; undefined for a new object. */
  readonly current: ResourceObject | undefined;
  readonly part: Part;
};

/** Returns the violations that the hook `validate` finds, except for violations of the stored object. */
export function hookViolations({ next, current, part }: Judged, facts: Facts): readonly Violation[] {
  if (facts.type.hooks?.validate === undefined) return [];
  const operation = current === undefined ? 'create' : part === 'status' ? 'status' : 'update';
  const context = contextOf(operation, facts);
  const validate = (object: ResourceObject): Called<readonly Violation[]> =>
    call('validate', [object, current, context], facts, decodeViolations);
  const found = validate(next);
  if (!found.ok) return [faultOf(facts.type, 'validate', found.fault, facts)];
  if (current === undefined || found.value.length === 0) return found.value;
  const before = validate(current);
  return newViolations(found.value, before.ok ? before.value : [], { before: current, after: next, part });
}

export type StoredViolation = Violation & {
  /** The value that a hook threw. */
  readonly thrown?: unknown;
};

/**
 * Returns the violations that the hook `validate` finds in a stored object, for any writer. A hook may also check
 * the writer, the time or the change. A violation therefore counts only if the hook finds it both in a create of the
 * object and in an update that changes nothing. If the hook fails, its failure is the violation.
 */
export function storedHookViolations(
  object: ResourceObject,
  type: ResourceType,
  now: string,
): readonly StoredViolation[] {
  if (type.hooks?.validate === undefined) return [];
  const subject = { kind: 'plugin', name: type.plugin } as const;
  const judge = (operation: 'create' | 'update'): readonly StoredViolation[] => {
    const context = contextOf(operation, { subject, now });
    const found = call(
      'validate',
      [object, operation === 'create' ? undefined : object, context],
      { type },
      decodeViolations,
    );
    if (found.ok)
      return found.value.map(({ pointer, detail }) => ({ pointer, detail: `${detail} (the hook "validate")` }));
    return [{ ...faultOf(type, 'validate', found.fault, {}), thrown: found.fault.thrown }];
  };
  const found = judge('update');
  if (found.length === 0) return [];
  const created = judge('create');
  return found.filter(({ pointer, detail }) =>
    created.some((each) => each.pointer === pointer && each.detail === detail),
  );
}

export function deleteViolations(object: ResourceObject, facts: Facts): readonly Violation[] {
  if (facts.type.hooks?.validateDelete === undefined) return [];
  const found = call('validateDelete', [object, contextOf('delete', facts)], facts, decodeViolations);
  return found.ok ? found.value : [faultOf(facts.type, 'validateDelete', found.fault, facts)];
}

function contextOf(operation: HookContext['operation'], { subject, now }: Pick<Facts, 'subject' | 'now'>): HookContext {
  return frozen({ operation, user: { name: actorOf(subject) }, now });
}

/** Calls a hook with frozen arguments and decodes its result. */
function call<T>(
  hook: HookName,
  args: readonly unknown[],
  { type, hookWatch }: Pick<Facts, 'type' | 'hookWatch'>,
  decode: (result: unknown) => T,
): Called<T> {
  const run = (): unknown => type.hooks?.[hook]?.(...args.map(frozen));
  try {
    const result = hookWatch === undefined ? run() : hookWatch.run(type, hook, run);
    if (isThenable(result)) return { ok: false, fault: { problem: 'returned a promise; hooks must be synchronous' } };
    return { ok: true, value: decode(result) };
  } catch (thrown) {
    return { ok: false, fault: faultBy(thrown) };
  }
}

function faultBy(thrown: unknown): Fault {
  try {
    if (thrown instanceof ForeignValueError) return { problem: `returned a wrong result: ${thrown.message}` };
    const message = thrown instanceof Error ? thrown.message : kindOf(thrown);
    return { problem: `threw: ${message.slice(0, hookDetailLengthMax)}`, thrown };
  } catch {
    // Reading a value that a plugin threw may throw again.
    return { problem: 'threw an error that cannot be printed' };
  }
}

/**
 * Returns whether a hook returned a promise. Handles a rejection of the promise, because an unhandled rejection would
 * end the process.
 */
function isThenable(result: unknown): boolean {
  if (result instanceof Promise) result.catch(() => undefined);
  return isObject(result) && typeof result['then'] === 'function';
}

function faultOf(type: ResourceType, hook: HookName, fault: Fault, { hookWatch }: Pick<Facts, 'hookWatch'>): Violation {
  hookWatch?.failed(type, hook, fault);
  return {
    pointer: '',
    detail: `the hook "${hook}" of the type ${type.kind}, of the plugin ${type.plugin}, ${fault.problem}`,
  };
}

const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/u;

function decodeViolations(result: unknown): readonly Violation[] {
  if (result === undefined || result === null) return [];
  if (!isList(result))
    throw new ForeignValueError(`it is ${kindOf(result)}, not an array of {pointer, detail} or undefined`);
  return result.slice(0, validationErrorsMax).map((entry, index) => {
    const { pointer, detail } = isObject(entry) ? entry : {};
    if (typeof pointer !== 'string' || pointer.length > hookDetailLengthMax || !pointerForm.test(pointer))
      throw new ForeignValueError(`[${String(index)}].pointer is not a JSON pointer like /spec/title`);
    if (typeof detail !== 'string' || detail === '')
      throw new ForeignValueError(`[${String(index)}].detail is not a string`);
    return { pointer, detail: detail.slice(0, hookDetailLengthMax) };
  });
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
