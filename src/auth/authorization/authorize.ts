import type { Grant } from '../../access/role-table.ts';
import { actorOf, type Subject } from '../../command/subject.ts';
import type { ApiRequest, PermissionReader } from '../../read/permission-reader.ts';

export type Authorized =
  /** `grant` is the rule that allows the request; absent for a probe before the permission tables are ready. */
  | { readonly allowed: true; readonly grant?: Grant | undefined }
  /**
   * `isUndecided`: the request may be allowed later. `idle` is set if only the state of a plugin prevents the request,
   * and is the text of this state, which `reason` includes.
   */
  | { readonly allowed: false; readonly reason: string; readonly isUndecided?: true; readonly idle?: string };

/** Decides whether a subject may make a request: for HTTP requests, watches, clients of plugins and access reviews. */
export type Authorize = (subject: Subject, request: ApiRequest) => Authorized;

/** A plugin that serves no requests now. `state` is a text. `isTransient`: the plugin may serve soon. */
export type IdlePlugin = {
  readonly state: string;
  readonly isTransient: boolean;
};

export type AuthorizerDependencies = {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'rightsOf'>;
  /** Returns the plugin that owns the type or route of a request, because some rules name a plugin (decision 6.5). */
  readonly pluginOf: (request: ApiRequest) => string | undefined;
  /** Returns the state of a plugin that serves no requests now; undefined for other plugins. */
  readonly idleOf?: (plugin: string) => IdlePlugin | undefined;
};

const probed: Authorized = { allowed: true };
const notYet: Authorized = { allowed: false, reason: 'the permission tables are not ready yet', isUndecided: true };

/**
 * Creates an authorizer that denies by default: a request needs a rule in one of the subject's roles. Until the
 * permission tables have loaded the whole log, only probes are allowed.
 */
export function createAuthorizer({
  permissions,
  pluginOf,
  idleOf = () => undefined,
}: AuthorizerDependencies): Authorize {
  return (subject, request) => {
    if (!permissions.isReady()) return isProbe(request) ? probed : notYet;
    const rights = permissions.rightsOf(subject);
    const grant = rights.find(request, pluginOf);
    if (grant !== undefined) return { allowed: true, grant };
    return refused(subject, request, firstIdle(rights.pluginsFor(request), idleOf));
  };
}

function firstIdle(
  plugins: ReadonlySet<string>,
  idleOf: (plugin: string) => IdlePlugin | undefined,
): IdlePlugin | undefined {
  for (const plugin of plugins) {
    const idle = idleOf(plugin);
    if (idle !== undefined) return idle;
  }
  return undefined;
}

function refused(subject: Subject, request: ApiRequest, idle: IdlePlugin | undefined): Authorized {
  if (idle?.isTransient === true) return { allowed: false, reason: idle.state, idle: idle.state, isUndecided: true };
  const reason = refusalOf(subject, request);
  if (idle === undefined) return { allowed: false, reason };
  return { allowed: false, reason: `${reason}: ${idle.state}`, idle: idle.state };
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/**
 * Returns whether the request is a health probe or reads the version. Process supervisors send such requests even
 * during the start.
 */
export function isProbe(request: ApiRequest): boolean {
  return request.kind === 'non-resource' && request.verb === 'get' && probes.has(request.path);
}

/** Returns the text of a refusal in Kubernetes' wording. The text does not reveal whether the object exists. */
export function refusalOf(subject: Subject, request: ApiRequest): string {
  const who =
    subject.kind === 'visitor'
      ? 'an anonymous visitor'
      : `User ${JSON.stringify(actorOf(subject))}${confinement(subject)}`;
  if (request.kind === 'non-resource')
    return `forbidden: ${who} cannot ${request.verb} path ${JSON.stringify(request.path)}`;
  const resource = request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`;
  const group = request.group === '' ? '' : `.${request.group}`;
  const name = request.name === undefined ? '' : ` ${JSON.stringify(request.name)}`;
  const object = `${request.resource}${group}${name}`;
  return (
    `${object} is forbidden: ${who} cannot ${request.verb} resource ` +
    `${JSON.stringify(resource)} in API group ${JSON.stringify(request.group)}`
  );
}

/**
 * Names a token that is limited to some roles, because the token may lack rights of its user. Otherwise returns an
 * empty text.
 */
function confinement(subject: Subject): string {
  if (subject.kind !== 'user' || subject.credential.kind !== 'token' || subject.credential.roles === undefined)
    return '';
  return ` with the token ${JSON.stringify(subject.credential.name)}, which is limited to some roles,`;
}
