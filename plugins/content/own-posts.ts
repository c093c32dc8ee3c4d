import {
  ClientError,
  type ClientPreconditions,
  type ControllerDeclaration,
  type RouteDeclaration,
  type RouteMethod,
  type RouteRequest,
  type RouteResponse,
  type TypeName,
} from '../../src/plugin/api/plugin.ts';
import { authorMetadata, authorSpec, isMembers, keptSpec } from './author-members.ts';
import { postName, type Post } from './post.ts';
import { asksToWatch, escaped, listOf, wholeNumber } from './query.ts';
import { badRequest, notFound, watchNotServed } from './refusals.ts';

/**
 * Declares the routes for the caller's own posts (decision 6.9), which are read and written with the plugin's rights,
 * so that callers need no rights on all posts. Posts of other users return 404. Only `publish` and `unpublish` change
 * whether a post is published, so that a role can grant writing without publishing. Members that only editors may
 * change are kept (`author-members.ts`).
 */
export function ownPosts(domain: string): ControllerDeclaration {
  const type = postName(domain);
  const apiVersion = `uc.api.${type.group}/${type.version}`;
  const route = (
    method: RouteMethod,
    path: string,
    answer: (call: OwnCall) => Promise<RouteResponse>,
  ): RouteDeclaration => ({
    method,
    path,
    handler: async (request) => answered(answer, { request, type, owner: request.user.name }),
  });
  return {
    apiVersion,
    path: '/posts',
    routes: [
      route('GET', '/', listOwn),
      route('POST', '/', async (call) => createOwn(call, `/apis/${apiVersion}/posts`)),
      route('GET', '/{name}', async (call) => shown(await ownPost(call))),
      route('PUT', '/{name}', replaceOwn),
      route('PATCH', '/{name}', patchOwn),
      route('DELETE', '/{name}', deleteOwn),
      route('PUT', '/{name}/publish', async (call) =>
        setPublished(call, ({ publish, publishTime = call.request.time }) => ({
          publish: true,
          publishTime: publish === true ? publishTime : call.request.time,
        })),
      ),
      route('PUT', '/{name}/unpublish', async (call) =>
        setPublished(call, () => ({ publish: false, publishTime: null })),
      ),
    ],
  };
}

type OwnCall = { readonly request: RouteRequest; readonly type: TypeName; readonly owner: string };

const visitor = 'system:anonymous';

async function answered(answer: (call: OwnCall) => Promise<RouteResponse>, call: OwnCall): Promise<RouteResponse> {
  const { query } = call.request;
  // All visitors have the same user name, so that a visitor's post would belong to all visitors.
  if (call.owner === visitor) throw new ClientError('a visitor has no posts', { reason: 'Forbidden', status: 403 });
  // A parameter that changes the meaning of a request must not be ignored.
  const unserved = ['limit', 'continue'].find((parameter) => query[parameter] !== undefined);
  if (unserved !== undefined) throw badRequest(`the parameter ${unserved} is not supported`);
  if (asksToWatch(query['watch'])) throw watchNotServed();
  return answer(call);
}

async function listOwn({ request: { query, pluginClient }, type, owner }: OwnCall): Promise<RouteResponse> {
  const page = wholeNumber(query['page'], 1, 0);
  const size = wholeNumber(query['size'], 0, 0);
  if (page === undefined || size === undefined) throw badRequest('page and size must be whole numbers of at least 0');
  const list = await pluginClient.list<Post>(type, {
    labelSelector: listOf(query['labelSelector']),
    fieldSelector: [`spec.owner=${escaped(owner)}`, ...listOf(query['fieldSelector'])],
    sort: listOf(query['sort']),
    page,
    size,
  });
  const metadata = { resourceVersion: list.resourceVersion };
  return {
    body: {
      apiVersion: `${type.group}/${type.version}`,
      kind: 'PostList',
      metadata,
      ...counted(list.total, Math.max(1, page), size),
      items: list.items,
    },
  };
}

/** Returns the members for pages, as in lists of the generated API. */
function counted(total: number, requestedPage: number, size: number): object {
  const page = size === 0 ? 1 : requestedPage;
  const totalPages = size === 0 ? 1 : Math.ceil(total / size);
  const [hasNext, hasPrevious] = [page < totalPages, page > 1];
  return { page, size, total, first: !hasPrevious, last: !hasNext, hasNext, hasPrevious, totalPages };
}

async function createOwn(
  { request: { body, pluginClient }, type, owner }: OwnCall,
  path: string,
): Promise<RouteResponse> {
  const object = membersOf(body);
  const made = await pluginClient.create<Post>(type, {
    ...object,
    ...authorMetadata(object, {}),
    spec: authorSpec(object['spec'], {}, { owner }),
  });
  const { headers, body: post } = shown(made);
  return { status: 201, headers: { ...headers, location: `${path}/${made.metadata.name}` }, body: post };
}

async function replaceOwn(call: OwnCall): Promise<RouteResponse> {
  const {
    request: { body, params, pluginClient },
    type,
  } = call;
  const object = membersOf(body);
  const { metadata } = object;
  // The client writes to the object with the name in the body, so that this name must be checked.
  if (!isMembers(metadata) || metadata['name'] !== params['name'])
    throw badRequest('metadata.name in the body must be equal to the name in the path');
  return writeOwn(call, async ({ metadata: { finalizers, ownerReferences }, spec }, preconditions) =>
    pluginClient.update<Post>(
      type,
      {
        ...object,
        ...authorMetadata(object, { finalizers, ownerReferences }),
        spec: authorSpec(object['spec'], spec, keptSpec(spec)),
      },
      preconditions,
    ),
  );
}

async function patchOwn(call: OwnCall): Promise<RouteResponse> {
  const {
    request: { body, pluginClient },
    type,
  } = call;
  const patch = membersOf(body);
  return writeOwn(call, async ({ metadata: { name }, spec }, preconditions) => {
    const ownPatch = {
      ...patch,
      ...authorMetadata(patch, {}),
      ...('spec' in patch ? { spec: authorSpec(patch['spec'], spec, {}) } : {}),
    };
    return pluginClient.patch<Post>(type, name, ownPatch, preconditions);
  });
}

async function deleteOwn(call: OwnCall): Promise<RouteResponse> {
  const {
    request: { body, pluginClient },
    type,
  } = call;
  const options = body === undefined ? {} : membersOf(body);
  if (Array.isArray(options['dryRun']) && options['dryRun'].length > 0) throw badRequest('dryRun is not supported');
  const { uid, resourceVersion } = membersOf(options['preconditions'] ?? {});
  return writeOwn(call, async ({ metadata }, preconditions) => {
    const isExpected =
      (uid ?? metadata.uid) === metadata.uid &&
      (resourceVersion ?? metadata.resourceVersion) === metadata.resourceVersion;
    if (!isExpected)
      throw new ClientError('the preconditions are not met: the object has been modified', {
        reason: 'Conflict',
        status: 409,
      });
    return pluginClient.delete<Post>(type, metadata.name, preconditions);
  });
}

type Published = { readonly publish: boolean; readonly publishTime: string | null };

async function setPublished(call: OwnCall, published: (spec: Post['spec']) => Published): Promise<RouteResponse> {
  const {
    request: { body, pluginClient },
    type,
  } = call;
  const given = isMembers(body) && isMembers(body['metadata']) ? body['metadata'] : {};
  const { version, resourceVersion } = given;
  return writeOwn(call, async ({ metadata: { name }, spec }, preconditions) =>
    pluginClient.patch<Post>(
      type,
      name,
      { metadata: { version, resourceVersion }, spec: published(spec) },
      preconditions,
    ),
  );
}

/** The maximum number of attempts. Each attempt follows a change by another writer, so that more are unlikely. */
const attemptsMax = 8;

/**
 * Checks that the caller owns the post, and writes only if the post is still at the checked version, so that a post
 * whose owner changes meanwhile is not written. After a change by another writer, the ownership is checked again. A
 * conflict at an unchanged version is caused by the preconditions of the caller.
 */
async function writeOwn(
  call: OwnCall,
  write: (found: Post, preconditions: ClientPreconditions) => Promise<Post>,
): Promise<RouteResponse> {
  let judged: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const found = await ownPost(call);
    const { resourceVersion } = found.metadata;
    refuseUnmatched(call.request, found);
    try {
      return shown(await write(found, { resourceVersion }));
    } catch (error) {
      const isConflict = error instanceof ClientError && error.reason === 'Conflict';
      if (!isConflict || judged === resourceVersion || attempt === attemptsMax) throw error;
      judged = resourceVersion;
    }
  }
}

function shown(body: Post): RouteResponse {
  return { headers: { etag: etagOf(body) }, body };
}

function etagOf({ metadata }: Post): string {
  return `"${String(metadata.version)}"`;
}

function refuseUnmatched({ headers }: RouteRequest, found: Post): void {
  const matching = listOf(headers['if-match'])
    .join()
    .split(',')
    .map((etag) => etag.trim());
  if (headers['if-match'] === undefined || matching.includes('*') || matching.includes(etagOf(found))) return;
  throw new ClientError(`If-Match does not contain the current version, ${etagOf(found)}`, {
    reason: 'PreconditionFailed',
    status: 412,
  });
}

async function ownPost({ request: { params, pluginClient }, type, owner }: OwnCall): Promise<Post> {
  const name = params['name'] ?? '';
  const found = await pluginClient.get<Post>(type, name);
  if (found?.spec.owner === owner) return found;
  throw notFound(type, name);
}

function membersOf(body: unknown): Readonly<Record<string, unknown>> {
  if (!isMembers(body)) throw badRequest('the body must be a JSON object');
  return body;
}
