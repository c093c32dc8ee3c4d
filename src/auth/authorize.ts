import { actorOf, type Subject } from '../command/subject.ts';
import type { ApiRequest, Grant, PermissionReader } from './permission-reader.ts';

export type Authorized =
  /** `grant`: the rule that allowed it; absent where a probe needed none. */
  | { readonly allowed: true; readonly grant?: Grant | undefined }
  /**
   * `isUndecided`: it may be allowed later, as nothing is known yet. `idle`: the state of a plugin that a rule of the
   * subject's own speaks of, and which would have to serve this for the rule to allow it; `reason` holds it, too.
   */
  | { readonly allowed: false; readonly reason: string; readonly isUndecided?: true; readonly idle?: string };

/** Who may do what: the one answer for requests, watches, plugins' clients and reviews. */
export type Authorize = (subject: Subject, request: ApiRequest) => Authorized;

/** `state`: what is said of the plugin. `isPassing`: it may serve in a moment. */
export type IdlePlugin = { readonly state: string; readonly isPassing: boolean };

export type AuthorizerDependencies = {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'rightsOf'>;
  /** The plugin whose type or route a request is for: some rules speak of one (decision 6.5). */
  readonly pluginOf: (request: ApiRequest) => string | undefined;
  /** Why a plugin serves nothing now; undefined for one that serves, and for one that is not there. */
  readonly idleOf?: (plugin: string) => IdlePlugin | undefined;
};

const probed: Authorized = { allowed: true };
const notYet: Authorized = { allowed: false, reason: 'the permission tables are not ready yet', isUndecided: true };

/**
 * Denying is the default: what no rule of the subject's roles allows is refused. Until the permission tables hold all of the
 * log's past nobody is allowed anything, but that the process may be asked how it is.
 */
export function createAuthorizer({ permissions, pluginOf, idleOf = () => undefined }: AuthorizerDependencies): Authorize {
  return (subject, request) => {
    if (!permissions.isReady()) return isProbe(request) ? probed : notYet;
    const rights = permissions.rightsOf(subject);
    const grant = rights.find(request, pluginOf);
    if (grant !== undefined) return { allowed: true, grant };
    return refused(subject, request, firstIdle(rights.pluginsFor(request), idleOf));
  };
}

function firstIdle(
  plugins: ReadonlySet<string>, idleOf: (plugin: string) => IdlePlugin | undefined,
): IdlePlugin | undefined {
  for (const plugin of plugins) {
    const idle = idleOf(plugin);
    if (idle !== undefined) return idle;
  }
  return undefined;
}

function refused(subject: Subject, request: ApiRequest, idle: IdlePlugin | undefined): Authorized {
  if (idle?.isPassing === true) return { allowed: false, reason: idle.state, idle: idle.state, isUndecided: true };
  const reason = refusalOf(subject, request);
  if (idle === undefined) return { allowed: false, reason };
  return { allowed: false, reason: `${reason}: ${idle.state}`, idle: idle.state };
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** Whether the process lives, and which it is: asked by what starts and stops it, also while it starts. */
export function isProbe(request: ApiRequest): boolean {
  return request.kind === 'non-resource' && request.verb === 'get' && probes.has(request.path);
}

/** As Kubernetes words it: verb, resource and name, and nothing of what exists. */
export function refusalOf(subject: Subject, request: ApiRequest): string {
  const who = subject.kind === 'visitor' ? 'an anonymous visitor' : `User ${JSON.stringify(actorOf(subject))}${confinement(subject)}`;
  if (request.kind === 'non-resource') return `forbidden: ${who} cannot ${request.verb} path ${JSON.stringify(request.path)}`;
  const resource = request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`;
  const object = `${request.resource}${request.group === '' ? '' : `.${request.group}`}${request.name === undefined ? '' : ` ${JSON.stringify(request.name)}`}`;
  return `${object} is forbidden: ${who} cannot ${request.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(request.group)}`;
}

/** The user may do it, perhaps, and only this token may not. */
function confinement(subject: Subject): string {
  if (subject.kind !== 'user' || subject.credential.kind !== 'token' || subject.credential.roles === undefined) return '';
  return ` with the token ${JSON.stringify(subject.credential.name)}, which is limited to some roles,`;
}
