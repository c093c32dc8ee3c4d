import type { Grant } from '../../access/role-table.ts';
import type { Role } from '../../access/role.ts';
import type { Rule } from '../../access/rule.ts';
import { deepEqual } from '../../base/json.ts';
import { reviewedRolesShownMax } from '../../limits/access.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ApiRequest } from '../../read/permission-reader.ts';
import { requestTo, resourceRequest } from '../../resource/query/request-path.ts';
import type { ResourceAttributes, ReviewedAttributes } from '../body/decode-request-body.ts';

/** Returns the request that a review describes. */
export function reviewedRequest(registry: TypeRegistry, attributes: ReviewedAttributes): ApiRequest {
  if ('nonResourceAttributes' in attributes)
    return requestTo(attributes.nonResourceAttributes.verb, attributes.nonResourceAttributes.path);
  const { verb, group = '', resource, name = '', subresource = '' } = attributes.resourceAttributes;
  const named = name === '' ? {} : { name };
  return resourceRequest(verb, {
    group,
    version: versionOf(registry, attributes.resourceAttributes),
    resource,
    ...named,
    ...(subresource === '' ? {} : { subresource }),
  });
}

/**
 * Returns the requested version. The default is the version of the registered type; without such a type, `*`. The
 * authorizer finds the type's plugin by the path, which contains a version.
 */
function versionOf(registry: TypeRegistry, { group = '', version = '', resource }: ResourceAttributes): string {
  if (version !== '' && version !== '*') return version;
  return registry.all().find(({ type }) => type.group === group && type.plural === resource)?.type.version ?? '*';
}

/** Returns the number of the rule in its role, from 1; undefined if the role does not contain the rule. */
export function numberOf({ rule }: Grant, role: Role | undefined): number | undefined {
  const place = role?.rules.findIndex((each) => each === rule || deepEqual(each, rule)) ?? -1;
  return place === -1 ? undefined : place + 1;
}

export function explainGrant(grant: Grant, role: Role | undefined): string {
  const number = numberOf(grant, role);
  return (
    `allowed by ${number === undefined ? 'a rule' : `rule ${String(number)}`} of role ` +
    `${JSON.stringify(grant.role)}: ${JSON.stringify(shownRule(grant.rule))}`
  );
}

export function explainRefusal(names: Iterable<string>): string {
  const roles = [...names].sort();
  if (roles.length === 0) return 'the subject has no roles';
  const more = roles.length - reviewedRolesShownMax;
  return (
    `no rule of the roles ${roles.slice(0, reviewedRolesShownMax).join(', ')}` +
    `${more > 0 ? ` and ${String(more)} more` : ''} allows the request`
  );
}

/** Returns a rule in Kubernetes' format. */
export function shownRule({ kind: _kind, ...members }: Rule): Readonly<Record<string, unknown>> {
  return members;
}
