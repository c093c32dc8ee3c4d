import { queryParametersMax, requestTargetBytesMax } from '../../limits/requests.ts';
import { namedBy, parseFieldSelector } from './selector.ts';

/**
 * The target of a request, parsed once from the method and the URL. Authorization and routing use the same parsed
 * target, so that exactly the authorized request is routed (decision 6.1).
 */
export type RequestInfo = ResourceRequest | NonResourceRequest | MalformedRequest;

export type ResourceRequest = ResourceLocation & {
  readonly kind: 'resource';
  readonly verb: string;
  /**
   * The name, if the field selector of a list or watch selects a single name. Authorization treats this name like the
   * name in a path (decision 6.5). Routing ignores this name.
   */
  readonly selectedName?: string;
  /** A `/` and the decoded segments joined by `/`. No segment contains a `/`. */
  readonly path: string;
  readonly segments: readonly string[];
};

export type NonResourceRequest = {
  readonly kind: 'non-resource';
  readonly verb: string;
  /** The method in lower case. A rule of a role may contain the method instead of the verb (decision 6.4). */
  readonly method: string;
  readonly path: string;
  readonly segments: readonly string[];
};

export type MalformedRequest = {
  readonly kind: 'malformed';
  readonly detail: string;
};

/**
 * The parts of a path `/api/<v>/<resource>[/<name>[/<subresource>]]` or
 * `/apis/<g>/<v>/<resource>[/<name>[/<subresource>]]`.
 */
export type ResourceLocation = {
  /** `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly name?: string;
  readonly subresource?: string;
};

/**
 * Parses the target of a request. `wanted` is `watch` if the request asks for a watch (decision 5.1), even if the path
 * does not support watches.
 */
export function requestInfo(method: string, target: string, wanted: 'watch' | 'no watch'): RequestInfo {
  if (target.length > requestTargetBytesMax)
    return malformed(`path and query must be at most ${String(requestTargetBytesMax)} bytes`);
  const raw = rawPath(target);
  const segments = segmentsOf(raw);
  if (typeof segments === 'string') return malformed(segments);
  const path = `/${segments.join('/')}`;
  const place = locationOf(segments);
  const named = place?.name !== undefined;
  // A POST to the path of a single object creates no object: a route of a plugin handles the POST. The rules of roles
  // allow such a request by its path (decision 6.3).
  if (place === undefined || (method === 'POST' && named && place.subresource === undefined)) {
    return {
      kind: 'non-resource',
      verb: verbOf(method, 'item'),
      method: method.toLowerCase(),
      path,
      segments,
    };
  }
  const verb =
    wanted === 'watch' && isWatchable(method, place) ? 'watch' : verbOf(method, named ? 'item' : 'collection');
  return {
    kind: 'resource',
    verb,
    path,
    segments,
    ...place,
    ...(named ? {} : selectedBy(verb, target)),
  };
}

/** Returns the request for the given parts of a path, for example for an access review. */
export function resourceRequest(verb: string, place: ResourceLocation, selectedName?: string): ResourceRequest {
  const { group, version, resource, name, subresource } = place;
  // The name before a subresource is `-` if the request names no object.
  const item = subresource === undefined ? [name] : [name ?? '-', subresource];
  const segments = [
    ...(group === '' ? ['api'] : ['apis', group]),
    version,
    resource,
    ...item.filter((segment) => segment !== undefined),
  ];
  return {
    kind: 'resource',
    verb,
    path: `/${segments.join('/')}`,
    segments,
    ...place,
    ...(selectedName === undefined ? {} : { selectedName }),
  };
}

/** Returns the request for a non-resource path. `verb` is a verb, or a method in lower case. */
export function nonResourceRequest(verb: string, path: string): NonResourceRequest {
  const segments = path.split('/').filter((segment) => segment !== '');
  const method = verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb;
  return {
    kind: 'non-resource',
    verb: verbOf(method.toUpperCase(), 'item'),
    method,
    path: `/${segments.join('/')}`,
    segments,
  };
}

/**
 * Returns the request with this verb or method to this path. The result is a resource request if the path has the form
 * of a resource path (decision 6.1), except for a POST to a single object.
 */
export function requestTo(verb: string, path: string): ResourceRequest | NonResourceRequest {
  const plain = nonResourceRequest(verb, path);
  const place = locationOf(plain.segments);
  if (place === undefined || (plain.verb === 'create' && place.name !== undefined && place.subresource === undefined))
    return plain;
  const ofCollection = place.name === undefined ? collectionVerbs.get(plain.verb) : undefined;
  return resourceRequest(ofCollection ?? plain.verb, place);
}

/** The verbs of collections, by the corresponding verbs of single objects. */
const collectionVerbs: ReadonlyMap<string, string> = new Map([
  ['get', 'list'],
  ['delete', 'deletecollection'],
]);

function isWatchable(method: string, { subresource }: ResourceLocation): boolean {
  return (method === 'GET' || method === 'HEAD') && subresource === undefined;
}

/** Returns the single name that a list or a watch of a collection selects; an empty object without such a name. */
function selectedBy(verb: string, target: string): Pick<ResourceRequest, 'selectedName'> {
  const start = target.indexOf('?');
  if ((verb !== 'list' && verb !== 'watch') || start === -1 || !target.includes('fieldSelector', start)) return {};
  const fields = parseFieldSelector(new URLSearchParams(target.slice(start + 1)).getAll('fieldSelector'));
  const selectedName = fields.ok ? namedBy(fields.requirements) : undefined;
  return selectedName === undefined ? {} : { selectedName };
}

/**
 * Returns the resource that a path identifies, independent of the method; undefined if the path does not have the form
 * of a resource path.
 */
export function locationOf(segments: readonly string[]): ResourceLocation | undefined {
  const core = segments[0] === 'api';
  if (!core && segments[0] !== 'apis') return undefined;
  const first = core ? 1 : 2;
  const { [first]: version, [first + 1]: resource, [first + 2]: name, [first + 3]: subresource } = segments;
  if (version === undefined || resource === undefined || segments.length > first + 4) return undefined;
  const group = core ? '' : (segments[1] ?? '');
  if (name === undefined) return { group, version, resource };
  return subresource === undefined
    ? { group, version, resource, name }
    : { group, version, resource, name, subresource };
}

/** Returns the parameters of a target's query, or the problem of the query as a text. */
export function queryOf(target: string): URLSearchParams | string {
  const start = target.indexOf('?');
  if (start === -1 || start === target.length - 1) return new URLSearchParams();
  const query = new URLSearchParams(target.slice(start + 1));
  return query.size > queryParametersMax
    ? `a request must have at most ${String(queryParametersMax)} query parameters, this one has ${String(query.size)}`
    : query;
}

/**
 * Returns the verb of a method (decisions 6.2 and 6.4). For a method without a verb of its own, returns the method in
 * lower case.
 */
function verbOf(method: string, level: 'collection' | 'item'): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return level === 'item' ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return level === 'item' ? 'delete' : 'deletecollection';
    default:
      return method.toLowerCase();
  }
}

/**
 * Returns the target without the query. Also removes scheme and authority from a target in absolute form (RFC 9112,
 * 3.2.2).
 */
function rawPath(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/iu, '');
}

/** Returns the decoded segments of a path, or the problem of a segment as a text. */
function segmentsOf(path: string): readonly string[] | string {
  const segments: string[] = [];
  for (const raw of path.split('/')) {
    if (raw === '') continue;
    const segment = raw.includes('%') ? decoded(raw) : raw;
    if (segment === undefined) return `the path segment ${JSON.stringify(raw)} is not valid percent-encoded UTF-8`;
    if (segment === '.' || segment === '..') return 'a path segment must not be "." or ".."';
    if (/[/\\\0]/u.test(segment)) return `the path segment ${JSON.stringify(raw)} must not contain "/", "\\" or NUL`;
    segments.push(segment);
  }
  return segments;
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function malformed(detail: string): MalformedRequest {
  return { kind: 'malformed', detail };
}
