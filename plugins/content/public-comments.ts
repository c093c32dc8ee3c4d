import {
  ClientError,
  defineRoute,
  type ControllerDeclaration,
  type DefinedType,
  type FromSchema,
  type RouteRequest,
  type RouteResponse,
} from '../../src/plugin/api/plugin.ts';
import { comment, ownedBy, publicCommentsOf, type Comment } from './comment.ts';
import { isPublic, post, type Post } from './post.ts';
import { positiveInteger } from './query.ts';
import { badRequest, notFound } from './refusals.ts';

type Types = {
  readonly posts: DefinedType<Post>;
  readonly comments: DefinedType<Comment>;
};

const sizeDefault = 20;
const sizeMax = 100;
const visitor = 'system:anonymous';
const newComment = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string' } },
} as const;

type NewComment = { readonly body: FromSchema<typeof newComment> };

/**
 * Declares the routes that list the approved comments on a published post, and add a comment. The routes use the
 * plugin's rights, so that callers need no rights on comments.
 */
export function publicComments(domain: string): ControllerDeclaration {
  const types: Types = { posts: post(domain), comments: comment(domain) };
  return {
    apiVersion: `api.content.${domain}/v1alpha1`,
    path: '/posts',
    routes: [
      { method: 'GET', path: '/{name}/comments', handler: (request) => listApproved(types, request) },
      defineRoute({
        method: 'POST',
        path: '/{name}/comments',
        request: { body: newComment },
        handler: async (request) => submit(types, request),
      }),
    ],
  };
}

async function listApproved(types: Types, request: RouteRequest): Promise<RouteResponse> {
  const { name } = (await published(types, request)).metadata;
  const page = positiveInteger(request.query['page'], 1);
  const size = positiveInteger(request.query['size'], sizeDefault);
  if (page === undefined || size === undefined || size > sizeMax)
    throw badRequest(`page and size must be whole numbers of at least 1, and size must be at most ${String(sizeMax)}`);
  const list = await request.pluginClient.list(types.comments, {
    fieldSelector: publicCommentsOf(name),
    sort: 'metadata.creationTimestamp,asc',
    page,
    size,
  });
  return {
    body: {
      page,
      size,
      total: list.total,
      items: list.items.map(shownOf),
    },
  };
}

async function submit(types: Types, request: RouteRequest & NewComment): Promise<RouteResponse> {
  const { body, user, pluginClient } = request;
  // All visitors have the same user name, so a comment of a visitor would have no identifiable author.
  if (user.name === visitor) throw new ClientError('log in to comment', { reason: 'Forbidden', status: 403 });
  const about = await published(types, request);
  if (about.spec.allowComment === false)
    throw new ClientError('comments on this post are closed', { reason: 'Forbidden', status: 403 });
  const made = await pluginClient.create(types.comments, {
    metadata: { generateName: 'comment-', ownerReferences: [ownedBy(about)] },
    spec: { post: about.metadata.name, author: user.name, text: body.text, state: 'pending' },
  });
  return { status: 201, body: { ...shownOf(made), state: 'pending' } };
}

/**
 * Returns the post that the request names. Throws a refusal (404) if the post is not public, also for callers with
 * rights on posts.
 */
async function published({ posts }: Types, { params, pluginClient }: RouteRequest): Promise<Post> {
  const name = params['name'] ?? '';
  const found = await pluginClient.get(posts, name);
  if (found === undefined || !isPublic(found)) throw notFound(posts, name);
  return found;
}

function shownOf({ metadata: { name, creationTimestamp }, spec: { author, text } }: Comment): object {
  return { name, author, text, time: creationTimestamp };
}
