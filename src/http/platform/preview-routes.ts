import { anonymousRole, authenticatedRole } from '../../access/role-names.ts';
import type { Authorize } from '../../auth/authorization/authorize.ts';
import { subjectNamed } from '../../auth/authorization/named-subject.ts';
import { readBindings } from '../../auth/authorization/user-bindings.ts';
import { roleBindingKey, roleKey } from '../../auth/types/platform-types.ts';
import { Slices } from '../../base/slices.ts';
import type { Clock } from '../../base/clock.ts';
import { actorOf, visitor, type Subject } from '../../command/subject.ts';
import { previewedRoutesMax, previewedTypesMax } from '../../limits/access.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type {
  ApiRequest,
  PermissionReader,
  ProposedAccess,
  ProposedRights,
  Rights,
} from '../../read/permission-reader.ts';
import { requestInfo, resourceRequest } from '../../resource/query/request-path.ts';
import { jsonAnswer, refusal, type Answer } from '../answer.ts';
import { decodeAccessPreview, type AccessPreview } from '../body/decode-request-body.ts';
import { readObject } from '../body/read-object.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import type { Route } from '../route-table.ts';
import { problem } from '../problem.ts';
import { changesOf, requestsOf } from './decode-preview.ts';
import { platformApiVersion, platformType } from './platform-type.ts';
import { explainGrant, explainRefusal, numberOf, shownRule } from './reviewed-request.ts';

export type PreviewRoutesDependencies = {
  readonly domain: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly registry: TypeRegistry;
  readonly reader: ObjectReader;
  readonly permissions: PermissionReader & ProposedAccess;
  readonly authorize: Authorize;
  /** Returns the authorizer of requests for given rights. */
  readonly authorizerOf: (rights: Rights) => Authorize;
  /** Returns the routes of all plugins. */
  readonly pluginRoutes: () => readonly PluginRoute[];
};

type PluginRoute = Route & { readonly plugin: string };

type Json = Readonly<Record<string, unknown>>;

/** The access in one state of the roles and bindings. `bound`: the bound roles with the names of their bindings. */
type State = {
  readonly subject: Subject;
  readonly bound: ReadonlyMap<string, readonly string[]>;
  readonly proposed: ProposedRights;
  readonly authorize: Authorize;
};

/** The verbs for which a matrix shows the access. */
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

/**
 * Creates the route that explains the access of a user or of a role, now and after proposed changes of roles and
 * bindings. Nothing is written. The authorizer of requests decides, with the rights of the proposed state.
 */
export function previewRoutes(dependencies: PreviewRoutesDependencies): readonly PlatformRoute[] {
  const previews = new Previews(dependencies);
  const path = `/apis/api.console.${dependencies.domain}/${platformApiVersion}/accesspreviews`;
  return [{ method: 'POST', path, route: async (_params, exchange) => previews.answer(exchange) }];
}

class Previews {
  readonly #dependencies: PreviewRoutesDependencies;

  constructor(dependencies: PreviewRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  async answer(exchange: Exchange): Promise<Answer> {
    const { registry, permissions, domain } = this.#dependencies;
    const roles = platformType(registry, roleKey);
    if (!roles.ok) return roles.answer;
    const body = await readObject(exchange);
    if (!body.ok) return body.answer;
    const decoded = decodeAccessPreview(body.value);
    if (!decoded.ok) return refusal(decoded.problem);
    const unreadable = this.#refuseReader(exchange.subject);
    if (unreadable !== undefined) return unreadable;
    const preview = decoded.value;
    const requests = requestsOf(preview, registry);
    if (!requests.ok) return refusal(requests.problem);
    const changes = changesOf(preview, { type: roles.type, domain });
    if (!changes.ok) return refusal(changes.problem);
    const stored = await this.#bound(preview);
    if (!stored.ok) return stored.answer;
    const { boundRoles } = preview.proposed ?? {};
    const current = this.#stateOf(
      preview,
      stored.bound,
      permissions.rightsWith(this.#names(preview, stored.bound), []),
    );
    const after = (): State => {
      const bound =
        boundRoles === undefined
          ? stored.bound
          : new Map(boundRoles.map((role) => [role, stored.bound.get(role) ?? []] as const));
      return this.#stateOf(preview, bound, permissions.rightsWith(this.#names(preview, bound), changes.value));
    };
    return jsonAnswer({
      current: await this.#explained(current, preview, requests.value),
      ...(preview.proposed === undefined ? {} : { proposed: await this.#explained(after(), preview, requests.value) }),
    });
  }

  /** Refuses a caller that may not list all roles and bindings, since the response describes them. */
  #refuseReader(subject: Subject): Answer | undefined {
    for (const resource of ['roles', 'rolebindings']) {
      const request = resourceRequest('list', { group: '', version: platformApiVersion, resource });
      const access = this.#dependencies.authorize(subject, request);
      if (!access.allowed) return refusal(problem('forbidden', access.reason));
    }
    return undefined;
  }

  /** Reads the stored bindings of the user. A preview of a role has none. */
  async #bound({
    user,
  }: AccessPreview): Promise<
    { readonly ok: true; readonly bound: State['bound'] } | { readonly ok: false; readonly answer: Answer }
  > {
    const { registry, reader, clock } = this.#dependencies;
    const bound = new Map<string, string[]>();
    if (user === undefined || user === actorOf(visitor)) return { ok: true, bound };
    const bindings = platformType(registry, roleBindingKey);
    if (!bindings.ok) return bindings;
    for (const { role, name } of await readBindings(user, { reader, type: bindings.type, clock })) {
      const names = bound.get(role);
      if (names === undefined) bound.set(role, [name]);
      else names.push(name);
    }
    return { ok: true, bound };
  }

  /** Returns the roles of the subject: the bound roles, and the roles of all users or of all visitors. */
  #names({ user, role }: AccessPreview, bound: State['bound']): readonly string[] {
    if (role !== undefined) return [role];
    if (user === actorOf(visitor)) return [anonymousRole];
    return [...[...bound.keys()].sort(), authenticatedRole, anonymousRole];
  }

  #stateOf({ user }: AccessPreview, bound: State['bound'], proposed: ProposedRights): State {
    const { permissions, authorizerOf } = this.#dependencies;
    const subject = user === undefined || user === actorOf(visitor) ? visitor : subjectNamed(permissions, user);
    return { subject, bound, proposed, authorize: authorizerOf(proposed.rights) };
  }

  async #explained(state: State, preview: AccessPreview, requests: readonly ApiRequest[]): Promise<Json> {
    const { rights } = state.proposed;
    const isDisabled = preview.user !== undefined && this.#dependencies.permissions.user(preview.user)?.isDisabled;
    const reason = `the user ${JSON.stringify(preview.user)} is disabled`;
    return {
      roles: [...rights.roles].sort(),
      isSuperAdministrator: rights.isSuperAdministrator,
      decisions: requests.map((request) =>
        isDisabled === true ? { allowed: false, reason } : this.#decision(state, request),
      ),
      ...(preview.matrix === true ? await this.#matrix(isDisabled === true ? undefined : state, preview.group) : {}),
    };
  }

  #decision({ subject, authorize, bound, proposed }: State, request: ApiRequest): Json {
    const access = authorize(subject, request);
    if (!access.allowed)
      return {
        allowed: false,
        reason: access.idle ?? explainRefusal(proposed.rights.roles),
        missing: missingRule(request),
      };
    const { grant } = access;
    if (grant === undefined) return { allowed: true, reason: 'allowed without a rule' };
    const role = proposed.role(grant.role);
    const chain = proposed.chainTo(grant.role);
    return {
      allowed: true,
      reason: explainGrant(grant, role),
      role: grant.role,
      isTemplate: role?.isTemplate ?? false,
      ruleNumber: numberOf(grant, role),
      rule: shownRule(grant.rule),
      chain,
      bindings: (bound.get(chain[0] ?? '') ?? []).toSorted(),
    };
  }

  /**
   * Authorizes each verb on each type, for requests without a name; without a group, also each route of a plugin.
   * Yields to other requests.
   */
  async #matrix(state: State | undefined, group: string | undefined): Promise<Json> {
    const slices = new Slices(this.#dependencies.clock);
    const types = this.#dependencies.registry
      .all()
      .map(({ type }) => type)
      .filter((type) => group === undefined || type.group === group)
      .sort((left, right) => (left.key < right.key ? -1 : 1));
    const matrix: Json[] = [];
    for (const { group: ofGroup, version, plural, kind } of types.slice(0, previewedTypesMax)) {
      const allowed = verbs.filter((verb) => {
        const request = resourceRequest(verb, { group: ofGroup, version, resource: plural });
        return state?.authorize(state.subject, request).allowed === true;
      });
      matrix.push({ group: ofGroup, version, resource: plural, kind, verbs: allowed });
      if (slices.isOver()) await slices.next();
    }
    const routes = this.#dependencies.pluginRoutes();
    const decided: Json[] = [];
    for (const route of group === undefined ? routes.slice(0, previewedRoutesMax) : []) {
      decided.push(decisionOnRoute(route, state));
      if (slices.isOver()) await slices.next();
    }
    const isComplete = types.length <= previewedTypesMax && routes.length <= previewedRoutesMax;
    return { matrix, ...(group === undefined ? { routes: decided } : {}), isComplete };
  }
}

/** Authorizes a request to the route, with `any` as the value of each parameter of the path. */
function decisionOnRoute({ plugin, method, pattern }: PluginRoute, state: State | undefined): Json {
  const request = requestInfo(method, pattern.replaceAll(/\{[^}]*\}/gu, 'any'), 'no watch');
  const allowed = request.kind !== 'malformed' && state?.authorize(state.subject, request).allowed === true;
  return { plugin, method, path: pattern, verb: request.kind === 'malformed' ? '' : request.verb, allowed };
}

/** Returns the narrowest rule that would allow the request. */
function missingRule(request: ApiRequest): Json {
  const { verb } = request;
  if (request.kind === 'non-resource') return { nonResourceURLs: [request.path], verbs: [verb] };
  const { group, resource, subresource, name } = request;
  return {
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    ...(name === undefined ? {} : { resourceNames: [name] }),
    verbs: [verb],
  };
}
