import type { ChangedRole } from '../../access/role-aggregation.ts';
import { superRole } from '../../access/role-names.ts';
import { roleOf } from '../../access/role-object.ts';
import type { Role } from '../../access/role.ts';
import { previewedPairsMax } from '../../limits/access.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ApiRequest } from '../../read/permission-reader.ts';
import { nameProblem } from '../../resource/type/names.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { invalidBody, reviewedAttributes, type AccessPreview, type ProposedRole } from '../body/decode-request-body.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import { reviewedRequest } from './reviewed-request.ts';

function invalid(violations: readonly Violation[]): Extract<Decoded<never>, { readonly ok: false }> {
  return { ok: false, problem: invalidBody('the preview', violations) };
}

/** Returns the requests of a preview. Refuses a preview that does not name exactly one user or role. */
export function requestsOf(
  { user, role, requests = [], proposed }: AccessPreview,
  registry: TypeRegistry,
): Decoded<readonly ApiRequest[]> {
  if ((user === undefined) === (role === undefined))
    return invalid([{ pointer: '', detail: 'must have exactly one of user and role' }]);
  if (role !== undefined && proposed?.boundRoles !== undefined)
    return invalid([{ pointer: '/proposed/boundRoles', detail: 'requires user, since a role has no bound roles' }]);
  const decoded: ApiRequest[] = [];
  for (const [index, spec] of requests.entries()) {
    const attributes = reviewedAttributes({ spec });
    if (!attributes.ok) {
      const detail = 'must have exactly one of resourceAttributes and nonResourceAttributes';
      return invalid([{ pointer: `/requests/${String(index)}`, detail }]);
    }
    decoded.push(reviewedRequest(registry, attributes.value));
  }
  return { ok: true, value: decoded };
}

type RoleContext = {
  /** The type Role. */
  readonly type: ResourceType;
  readonly domain: string;
};

/** Returns the proposed changes of roles. A proposed role must be valid, as for a write. */
export function changesOf({ proposed }: AccessPreview, context: RoleContext): Decoded<readonly ChangedRole[]> {
  const { roles = [], removedRoles = [] } = proposed ?? {};
  const violations = [...roles.flatMap((role, index) => violationsOf(role, index, context))];
  const names = [...roles.map(({ metadata }) => metadata.name), ...removedRoles];
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    violations.push({ pointer: '/proposed', detail: `has several changes of the role ${JSON.stringify(repeated)}` });
  if (names.includes(superRole))
    violations.push({ pointer: '/proposed', detail: `must not change ${superRole}, which nobody can change` });
  if (violations.length > 0) return invalid(violations);
  const decoded = roles.map((role) => roleOf(role, context.domain));
  const malformed = decoded.flatMap((role, index) =>
    role.malformed.map(({ key, detail }) => ({
      pointer: `/proposed/roles/${String(index)}/metadata/annotations/${key.replaceAll('/', '~1')}`,
      detail,
    })),
  );
  if (malformed.length > 0) return invalid(malformed);
  if (decoded.reduce((sum, role) => sum + pairsOf(role), 0) > previewedPairsMax)
    return invalid([
      {
        pointer: '/proposed/roles',
        detail: `must have rules with at most ${String(previewedPairsMax)} pairs of an API group and a resource`,
      },
    ]);
  return {
    ok: true,
    value: [
      ...decoded.map((role) => ({ name: role.name, role })),
      ...removedRoles.map((name) => ({ name, role: undefined })),
    ],
  };
}

function violationsOf(role: ProposedRole, index: number, { type }: RoleContext): readonly Violation[] {
  const place = `/proposed/roles/${String(index)}`;
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...members } = role;
  const misnamed = nameProblem(metadata.name);
  return [
    ...(misnamed === undefined ? [] : [{ pointer: `${place}/metadata/name`, detail: misnamed }]),
    ...type.check(members).found.map(({ pointer, detail }) => ({ pointer: place + pointer, detail })),
  ];
}

function pairsOf({ rules }: Role): number {
  return rules.reduce(
    (sum, rule) =>
      sum + (rule.kind === 'resource' ? rule.apiGroups.length * rule.resources.length : rule.nonResourceURLs.length),
    0,
  );
}
