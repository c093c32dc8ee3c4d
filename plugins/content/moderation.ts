import {
  escapeSelectorValue,
  type ControllerDeclaration,
  type DefinedType,
  type RouteDeclaration,
  type RouteRequest,
  type RouteResponse,
} from '../../src/plugin/api/plugin.ts';
import { comment, commentStates, type Comment, type CommentState } from './comment.ts';
import { post, type Post } from './post.ts';
import { positiveInteger } from './query.ts';
import { badRequest, notFound } from './refusals.ts';

type Types = {
  readonly posts: DefinedType<Post>;
  readonly comments: DefinedType<Comment>;
};

const sizeDefault = 50;
const sizeMax = 500;

/**
 * Declares the routes for moderators, which list comments, change the state of a comment, and count posts and comments.
 * The routes use the plugin's rights. Callers need rights on these routes, but no rights on posts or comments.
 */
export function moderation(domain: string): ControllerDeclaration {
  const types: Types = { posts: post(domain), comments: comment(domain) };
  const judged = (word: string, state: CommentState): RouteDeclaration => ({
    method: 'PUT',
    path: `/comments/{name}/${word}`,
    handler: (request) => setState(types, request, state),
  });
  return {
    apiVersion: `console.api.content.${domain}/v1alpha1`,
    path: '/',
    routes: [
      { method: 'GET', path: '/comments', handler: (request) => listComments(types, request) },
      { method: 'GET', path: '/counts', handler: (request) => counts(types, request) },
      judged('approve', 'approved'),
      judged('spam', 'spam'),
      judged('unapprove', 'pending'),
    ],
  };
}

async function listComments({ comments }: Types, { query, pluginClient }: RouteRequest): Promise<RouteResponse> {
  const page = positiveInteger(query['page'], 1);
  const size = positiveInteger(query['size'], sizeDefault);
  if (page === undefined || size === undefined || size > sizeMax)
    throw badRequest(`page and size must be whole numbers of at least 1, and size must be at most ${String(sizeMax)}`);
  const state = query['state'] ?? 'pending';
  const about = query['post'];
  if (!commentStates.some((known) => known === state))
    throw badRequest(`state must be one of ${commentStates.join(', ')}`);
  if (Array.isArray(about)) throw badRequest('the parameter post must not be repeated');
  const fieldSelector = [
    `spec.state=${String(state)}`,
    ...(typeof about === 'string' ? [`spec.post=${escapeSelectorValue(about)}`] : []),
  ];
  const { total, items } = await pluginClient.list(comments, {
    fieldSelector,
    sort: 'metadata.creationTimestamp,asc',
    page,
    size,
  });
  return { body: { page, size, total, items } };
}

async function setState(
  { comments }: Types,
  { params, pluginClient }: RouteRequest,
  state: CommentState,
): Promise<RouteResponse> {
  const name = params['name'] ?? '';
  if ((await pluginClient.get(comments, name)) === undefined) throw notFound(comments, name);
  return { body: await pluginClient.patch(comments, name, { spec: { state } }) };
}

async function counts({ posts, comments }: Types, { pluginClient }: RouteRequest): Promise<RouteResponse> {
  const one = { page: 1, size: 1 };
  const all = (await pluginClient.list(posts, one)).total;
  const published = (await pluginClient.list(posts, { ...one, fieldSelector: 'spec.publish=true' })).total;
  const states = await Promise.all(
    commentStates.map(
      async (state) =>
        [state, (await pluginClient.list(comments, { ...one, fieldSelector: `spec.state=${state}` })).total] as const,
    ),
  );
  return { body: { posts: { published, unpublished: all - published }, comments: Object.fromEntries(states) } };
}
