import type { DeclarationReader, Declared } from '../read/declarations.ts';
import { isSameDeclaration, type Declaration } from '../resource/type/declaration.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Refusal } from './refusals.ts';

/** The declaration that decides writes of a type: the latest one in the log, or none. */
export type DecidedBy = Declared | undefined;

/**
 * Whether this node may write objects of the type: not while the latest declaration in the log differs from its own.
 */
export function decidedBy(
  declarations: DeclarationReader | undefined,
  type: ResourceType,
): { readonly ok: true; readonly by: DecidedBy } | Refusal {
  const last = declarations?.declared(type.key);
  if (last === undefined || type.declaration === undefined) return { ok: true, by: undefined };
  return isSameDeclaration(last.declaration, type.declaration)
    ? { ok: true, by: last }
    : otherwise(type, last.declaration, type.declaration);
}

/** Whether the decision's declaration is still in force. Checked in the same turn in which the append is sent. */
export function isStillDecidedBy(
  declarations: DeclarationReader | undefined,
  type: ResourceType,
  by: DecidedBy,
): boolean {
  return type.declaration === undefined || declarations?.declared(type.key)?.revision === by?.revision;
}

function otherwise({ plural, key }: ResourceType, last: Declaration, own: Declaration): Refusal {
  const detail =
    `${key} is declared by ${describeDeclaration(last)}, and this server has ` +
    `${describeDeclaration(own)}. It accepts no writes of ${plural} until both are the same`;
  return {
    ok: false,
    rejection: { reason: 'unavailable', detail, retryAfterSeconds: otherDeclarationRetrySeconds, lasts: true },
  };
}

const otherDeclarationRetrySeconds = 5;
const digestShown = 12;

function describeDeclaration({ plugin, version, shape, code }: Declaration): string {
  const owner = plugin === 'platform' ? 'the platform' : `the plugin ${plugin}`;
  return `${owner} ${version} (shape ${shape.slice(0, digestShown)}, code ${code.slice(0, digestShown)})`;
}
