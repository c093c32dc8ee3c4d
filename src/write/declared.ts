import type { WriteOutcome } from '../command/command.ts';
import type { DeclarationReader, Declared } from '../read/declarations.ts';
import { isSameDeclaration, type Declaration } from '../resource/type/declaration.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Refusal } from './refusals.ts';

/** The latest declaration in the log, by which writes of a type are decided; undefined without a declaration. */
export type DecidedBy = Declared | undefined;

/** `asked` is the type in the version of the request; undefined for the preferred version. */
export type RequestedType = { readonly type: ResourceType; readonly asked: ResourceType | undefined };

type TypesNow = {
  readonly declarations?: DeclarationReader;
  /** Returns the registered type. */
  readonly typeOf?: (key: TypeKey) => ResourceType | undefined;
  readonly servedType?: (key: TypeKey) => ResourceType | undefined;
};

/**
 * Returns the type by which a write is decided now, in the version of the request. A plugin may be reloaded while a
 * write waits. The write is then decided by the registered type, like a new request, if the log has another declaration
 * than the request's type, or if the registered type may store rows in another form.
 */
export function currentType(
  { declarations, typeOf, servedType }: TypesNow,
  requested: RequestedType,
): ({ readonly ok: true } & RequestedType) | Refusal {
  const { type, asked = type } = requested;
  if (servedType === undefined || mayDecide(declarations, type, typeOf?.(type.key))) return { ok: true, ...requested };
  const served = servedType(type.key);
  if (served === undefined) return repeatable(`the plugin ${type.plugin} is being reloaded`, { until: 'declared' });
  const inVersion = (served.versions?.served ?? [served]).find(({ version }) => version === asked.version);
  if (inVersion === undefined) return repeatable(`the plugin ${type.plugin} was reloaded during the request`);
  return { ok: true, type: served, asked: inVersion === served ? undefined : inVersion };
}

/** Returns whether a write of the type could be decided now, so that a write that waits for this may continue. */
export function isDecidable(types: TypesNow, requested: RequestedType): boolean {
  const current = currentType(types, requested);
  return current.ok ? decidedBy(types.declarations, current.type).ok : !isUndeclared(current);
}

/** Returns whether the write was refused because of an upgrade of its plugin. Nothing was written. */
export function isUndeclared(outcome: WriteOutcome): boolean {
  return !outcome.ok && outcome.rejection.reason === 'unavailable' && outcome.rejection.until === 'declared';
}

/** Returns whether the log has another declaration of the type. */
export function isOutdated(
  declarations: Pick<DeclarationReader, 'declared'> | undefined,
  { key, declaration }: ResourceType,
): boolean {
  const last = declarations?.declared(key)?.declaration;
  return last !== undefined && declaration !== undefined && !isSameDeclaration(last, declaration);
}

/**
 * Returns whether the type of a request may still be used for the decision, although another type may be registered
 * now.
 */
function mayDecide(
  declarations: DeclarationReader | undefined,
  type: ResourceType,
  registered: ResourceType | undefined,
): boolean {
  // A type without a declaration is of a package that is checked, and was never registered.
  if (registered === type || type.declaration === undefined) return true;
  return !isOutdated(declarations, type) && (registered === undefined || hasSameRows(registered, type));
}

/** Returns whether both types give the rows of objects the same form. */
function hasSameRows(one: ResourceType, other: ResourceType): boolean {
  const [first, second] = [one.declaration, other.declaration];
  return first !== undefined && second !== undefined && isSameDeclaration(first, second);
}

function repeatable(problem: string, ends: { readonly until?: 'declared' } = {}): Refusal {
  const detail = `${problem}: nothing was written; repeat the request`;
  return {
    ok: false,
    rejection: { reason: 'unavailable', detail, retryAfterSeconds: 1, lasts: true, isUnwritten: true, ...ends },
  };
}

/**
 * Returns the declaration by which this node decides writes of the type. Refuses if the latest declaration in the log
 * differs from this node's declaration. Also refuses a type with references that has no declaration in the log.
 */
export function decidedBy(
  declarations: DeclarationReader | undefined,
  type: ResourceType,
): { readonly ok: true; readonly by: DecidedBy } | Refusal {
  const last = declarations?.declared(type.key);
  if (type.declaration === undefined || declarations === undefined) return { ok: true, by: undefined };
  if (last === undefined) return type.references.length > 0 ? undeclared(type) : { ok: true, by: undefined };
  return isSameDeclaration(last.declaration, type.declaration)
    ? { ok: true, by: last }
    : otherwise(type, last.declaration, type.declaration);
}

/**
 * Returns whether the declaration of a decision is still in force. Callers must check this in the turn in which the
 * append is sent.
 */
export function isStillDecidedBy(
  declarations: DeclarationReader | undefined,
  type: ResourceType,
  by: DecidedBy,
): boolean {
  return type.declaration === undefined || declarations?.declared(type.key)?.revision === by?.revision;
}

/**
 * Refuses a write of a type with references that is not declared in the log, because deletions would ignore the
 * references.
 */
function undeclared({ key }: ResourceType): Refusal {
  const detail = `the references of ${key} are not recorded in the log yet, so this server accepts no writes of ${key}`;
  return {
    ok: false,
    rejection: {
      reason: 'unavailable',
      detail,
      retryAfterSeconds: otherDeclarationRetrySeconds,
      until: 'declared',
      isUnwritten: true,
    },
  };
}

function otherwise({ plural, key }: ResourceType, last: Declaration, own: Declaration): Refusal {
  const detail =
    `${key} is declared by ${describeDeclaration(last)}, and this server has ` +
    `${describeDeclaration(own)}. This server accepts no writes of ${plural} until both declarations are the same, ` +
    'for example at the end of an upgrade: nothing was written; repeat the request later';
  return {
    ok: false,
    rejection: {
      reason: 'unavailable',
      detail,
      retryAfterSeconds: otherDeclarationRetrySeconds,
      lasts: true,
      until: 'declared',
      isUnwritten: true,
    },
  };
}

const otherDeclarationRetrySeconds = 5;
const digestShown = 12;

function describeDeclaration({ plugin, version, shape, code }: Declaration): string {
  const owner = plugin === 'platform' ? 'the platform' : `the plugin ${plugin}`;
  return `${owner} ${version} (shape ${shape.slice(0, digestShown)}, code ${code.slice(0, digestShown)})`;
}
