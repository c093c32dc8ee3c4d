import { mayRequest, type Rule } from '../../../server/rights.ts';
import { superRole, type Role, type RoleMap } from '../access-objects.ts';
import { includedBy } from '../roles/role-graph.ts';
import type { ReviewedRequest } from './preview.ts';

const shownMax = 8;

/**
 * Returns visible roles that allow the request by their own rules or by rules of included roles. The roles are only
 * suggestions: the server's preview decides.
 */
export function grantingRoles(request: ReviewedRequest, candidates: readonly Role[], roles: RoleMap): readonly Role[] {
  return candidates
    .filter(({ name }) => name !== superRole)
    .filter((role) =>
      [role.name, ...includedBy([role.name], roles).keys()].some((name) =>
        allows(roles.get(name)?.rules ?? [], request),
      ),
    )
    .toSorted((a, b) => Number(a.isTemplate) - Number(b.isTemplate))
    .slice(0, shownMax);
}

function allows(rules: readonly Rule[], request: ReviewedRequest): boolean {
  if ('resourceAttributes' in request) {
    const { verb, group, resource, name, subresource } = request.resourceAttributes;
    return mayRequest(rules, { verb, type: { group, version: '*', plural: resource }, name, subresource });
  }
  const { verb, path } = request.nonResourceAttributes;
  return rules.some(
    ({ nonResourceURLs = [], verbs }) =>
      (verbs.includes(verb) || verbs.includes('*')) &&
      nonResourceURLs.some((url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))),
  );
}
