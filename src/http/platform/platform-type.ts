import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { refusal, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { notYetServing } from '../resources/generated.ts';
import { problem } from '../problem.ts';

/** The version of the platform's own APIs. */
export const platformApiVersion = 'v1alpha1';

/** Returns a platform type, or a refusal if the type is not served. */
export function platformType(
  registry: TypeRegistry,
  key: TypeKey,
): { readonly ok: true; readonly type: ResourceType } | { readonly ok: false; readonly answer: Answer } {
  const registration = registry.byKey(key);
  if (registration?.serving === true) return { ok: true, type: registration.type };
  return {
    ok: false,
    answer: refusal(
      registration === undefined
        ? problem('not-found', 'the server could not find the requested resource')
        : notYetServing(registration),
    ),
  };
}

/**
 * Refuses a caller with a token that is limited to some roles. Such a token allows only requests that these roles
 * allow. The right to change one's own account does not come from a role.
 */
export function refuseConfined({ subject }: Exchange): Answer | undefined {
  if (subject.kind !== 'user' || subject.credential.kind !== 'token' || subject.credential.roles === undefined)
    return undefined;
  return refusal(problem('forbidden', 'a token that is limited to some roles cannot change the account of its owner'));
}
