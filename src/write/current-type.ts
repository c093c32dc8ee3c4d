import { isSameDeclaration } from '../resource/type/declaration.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { WriteDoorDependencies } from './execute-types.ts';
import type { Refusal } from './refusals.ts';

/** `asked` is the type in the version of the request; undefined for the preferred version. */
export type RequestedType = { readonly type: ResourceType; readonly asked: ResourceType | undefined };

/**
 * Returns the type by which a write is decided now, in the version of the request. A plugin may be reloaded while a
 * write waits. If the log then no longer has the declaration of the request's type, the write is decided by the
 * registered type, as a repetition of the request would be.
 */
export function currentType(
  { declarations, typeOf, servedType }: Pick<WriteDoorDependencies, 'declarations' | 'typeOf' | 'servedType'>,
  requested: RequestedType,
): ({ readonly ok: true } & RequestedType) | Refusal {
  const { type, asked = type } = requested;
  const last = declarations?.declared(type.key)?.declaration;
  const isOutdated = last !== undefined && type.declaration !== undefined && !isSameDeclaration(last, type.declaration);
  if (!isOutdated || servedType === undefined || typeOf?.(type.key) === type) return { ok: true, ...requested };
  const served = servedType(type.key);
  if (served === undefined) return repeatable(`the plugin ${type.plugin} is being reloaded`);
  const versions = served.versions?.served ?? [served];
  const inVersion = versions.find(({ version }) => version === asked.version);
  if (inVersion === undefined) return repeatable(`the plugin ${type.plugin} was reloaded during the request`);
  return { ok: true, type: served, asked: inVersion === served ? undefined : inVersion };
}

function repeatable(problem: string): Refusal {
  const detail = `${problem}: nothing was written; repeat the request`;
  return { ok: false, rejection: { reason: 'unavailable', detail, retryAfterSeconds: 1, lasts: true } };
}
