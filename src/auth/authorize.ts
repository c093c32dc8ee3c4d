import type { NonResourceRequest, ResourceRequest } from '../resource/request-path.ts';
import { actorOf, type Subject } from '../command/subject.ts';

export type Authorized = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export type Authorize = (subject: Subject, request: ResourceRequest | NonResourceRequest) => Authorized;

const allowed: Authorized = { allowed: true };

/**
 * The one place that says who may do what. Denying is the default: what no line here allows is refused. Until roles are
 * evaluated, the super administrator may do everything, and everybody may read health, version and discovery.
 */
export function authorize(subject: Subject, request: ResourceRequest | NonResourceRequest): Authorized {
  if (subject.kind === 'user' && subject.name === 'admin') return allowed;
  if (request.kind === 'non-resource' && request.verb === 'get' && isOpenToAll(request.segments)) return allowed;
  return { allowed: false, reason: refusalOf(subject, request) };
}

const openPaths = new Set(['healthz', 'livez', 'readyz', 'version']);

/** Health, version, and discovery: `/api`, `/api/<v>`, `/apis`, `/apis/<g>`, `/apis/<g>/<v>`. */
function isOpenToAll(segments: readonly string[]): boolean {
  const [first = '', ...more] = segments;
  if (first === 'api') return more.length <= 1;
  if (first === 'apis') return more.length <= 2;
  return more.length === 0 && openPaths.has(first);
}

/** As Kubernetes words it: verb, resource and name, and nothing of what exists. */
function refusalOf(subject: Subject, request: ResourceRequest | NonResourceRequest): string {
  const who = subject.kind === 'visitor' ? 'a visitor who is not logged in' : `User ${JSON.stringify(actorOf(subject))}`;
  if (request.kind === 'non-resource') return `forbidden: ${who} cannot ${request.verb} path ${JSON.stringify(request.path)}`;
  const resource = request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`;
  const object = `${request.resource}${request.group === '' ? '' : `.${request.group}`}${request.name === undefined ? '' : ` ${JSON.stringify(request.name)}`}`;
  return `${object} is forbidden: ${who} cannot ${request.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(request.group)}`;
}
