import { isObject } from '../base/guards.ts';
import type { ResourceType, Violation } from '../resource/type/resource-type.ts';
import { validationErrorsMax } from '../limits/requests.ts';
import type { Draft } from '../resource/object/draft.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { Rejection } from './rejection.ts';

/** A refused command. The texts follow Kubernetes. */
export type Refused = {
  readonly ok: false;
  readonly rejection: Rejection;
};

export function identityProblem(
  draft: Draft,
  type: ResourceType,
  presence: 'required' | 'optional',
): string | undefined {
  for (const [member, given, expected] of [
    ['apiVersion', draft.apiVersion, type.apiVersion],
    ['kind', draft.kind, type.kind],
  ] as const) {
    if (given === expected || (given === undefined && presence === 'optional')) continue;
    return given === undefined
      ? `the body has no ${member}: set it to ${JSON.stringify(expected)}`
      : `the body's ${member} is ${JSON.stringify(given)}, but this path requires ${JSON.stringify(expected)}`;
  }
  return undefined;
}

export function stalePrecondition(type: ResourceType, name: string): Refused {
  return refuse(
    'stale-version',
    `Operation cannot be fulfilled on ${type.plural}${dotted(type.group)} "${name}": the object has ` +
      'been modified; please apply your changes to the latest version and try again',
  );
}

export function uidConflict(type: ResourceType, uid: string, object: ResourceObject): Refused {
  const { name, uid: current } = object.metadata;
  return refuse(
    'stale-version',
    `Operation cannot be fulfilled on ${type.plural}${dotted(type.group)} "${name}": Precondition ` +
      `failed: UID in precondition: ${uid}, UID in object: ${current}`,
  );
}

export function alreadyExists(type: ResourceType, name: string): Refused {
  return refuse('already-exists', `${type.plural}${dotted(type.group)} "${name}" already exists`);
}

export function invalid(
  type: Pick<ResourceType, 'kind' | 'group'>,
  name: string,
  violations: readonly Violation[],
): Refused {
  const shown = violations
    .slice(0, validationErrorsMax)
    .map(({ pointer, detail: text }) => ({ pointer, detail: text }));
  const detail = `${type.kind}${dotted(type.group)} "${name}" is invalid: ${violationsText(shown)}`;
  return { ok: false, rejection: { reason: 'invalid', detail, violations: shown } };
}

/** Adds the warnings about dropped members to a refusal. Returns any other outcome unchanged. */
export function warned<T>(outcome: T, warnings: readonly string[]): T | Refused {
  if (warnings.length === 0 || !isRefused(outcome)) return outcome;
  const { rejection } = outcome;
  return { ok: false, rejection: { ...rejection, warnings: [...warnings, ...(rejection.warnings ?? [])] } };
}

function isRefused(outcome: unknown): outcome is Refused {
  return isObject(outcome) && outcome['ok'] === false;
}

/** Refusals that need only a detail. */
type PlainReason = Exclude<
  Rejection['reason'],
  'invalid' | 'unique-value-taken' | 'too-many-requests' | 'insufficient-storage' | 'unavailable'
>;

export function refuse(reason: PlainReason, detail: string): Refused {
  return { ok: false, rejection: { reason, detail } };
}

export function notFound(type: Pick<ResourceType, 'plural' | 'group'>, name: string): string {
  return `${type.plural}${dotted(type.group)} "${name}" not found`;
}

function dotted(group: string): string {
  return group === '' ? '' : `.${group}`;
}

/**
 * Returns the violations as a text. A violation begins with its field, unless the violation concerns the whole object.
 */
export function violationsText(violations: readonly Violation[]): string {
  const textOf = ({ pointer, detail }: Violation): string =>
    pointer === '' ? detail : `${dottedPath(pointer)}: ${detail}`;
  return violations.map(textOf).join(', ');
}

/** Returns a pointer in the form of Kubernetes: `spec.title` for `/spec/title`. */
export function dottedPath(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
