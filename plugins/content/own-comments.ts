import {
  ClientError,
  type ControllerDeclaration,
  type DefinedType,
  type RouteRequest,
  type RouteResponse,
} from '../../src/plugin/api/plugin.ts';
import { comment, type Comment } from './comment.ts';
import { asksToWatch, escaped, wholeNumber } from './query.ts';
import { badRequest, notFound, watchNotServed } from './refusals.ts';

const visitor = 'system:anonymous';

/** Declares the routes that list, read and delete the caller's own comments. Comments of other users return 404. */
export function ownComments(domain: string): ControllerDeclaration {
  const comments = comment(domain);
  return {
    apiVersion: `uc.api.content.${domain}/v1alpha1`,
    path: '/comments',
    routes: [
      { method: 'GET', path: '/', handler: (request) => listOwn(comments, request) },
      { method: 'GET', path: '/{name}', handler: async (request) => ({ body: await ownComment(comments, request) }) },
      { method: 'DELETE', path: '/{name}', handler: (request) => deleteOwn(comments, request) },
    ],
  };
}

async function listOwn(
  comments: DefinedType<Comment>,
  { query, user, pluginClient }: RouteRequest,
): Promise<RouteResponse> {
  if (user.name === visitor) throw new ClientError('a visitor has no comments', { reason: 'Forbidden', status: 403 });
  if (asksToWatch(query['watch'])) throw watchNotServed();
  const page = wholeNumber(query['page'], 1, 0);
  const size = wholeNumber(query['size'], 0, 0);
  if (page === undefined || size === undefined) throw badRequest('page and size must be whole numbers of at least 0');
  const list = await pluginClient.list(comments, { fieldSelector: `spec.author=${escaped(user.name)}`, page, size });
  return {
    body: {
      apiVersion: `${comments.group}/${comments.version}`,
      kind: 'CommentList',
      metadata: { resourceVersion: list.resourceVersion },
      page: Math.max(1, page),
      size,
      total: list.total,
      items: list.items,
    },
  };
}

async function deleteOwn(comments: DefinedType<Comment>, request: RouteRequest): Promise<RouteResponse> {
  const {
    metadata: { name, resourceVersion },
  } = await ownComment(comments, request);
  return { body: await request.pluginClient.delete(comments, name, { resourceVersion }) };
}

async function ownComment(
  comments: DefinedType<Comment>,
  { params, user, pluginClient }: RouteRequest,
): Promise<Comment> {
  const name = params['name'] ?? '';
  const found = user.name === visitor ? undefined : await pluginClient.get(comments, name);
  if (found?.spec.author === user.name) return found;
  throw notFound(comments, name);
}
