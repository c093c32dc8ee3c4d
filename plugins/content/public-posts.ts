import {
  escapeSelectorValue,
  type Client,
  type ControllerDeclaration,
  type RouteRequest,
  type RouteResponse,
  type TypeName,
} from '../../src/plugin/api/plugin.ts';
import { isPublic, postName, type Post } from './post.ts';
import { positiveInteger } from './query.ts';
import { badRequest, notFound } from './refusals.ts';

/**
 * Declares the routes for visitors, which return only published posts. The routes use the plugin's rights. Callers need
 * rights on these routes, but no rights on posts.
 */
export function publicPosts(domain: string): ControllerDeclaration {
  const type = postName(domain);
  return {
    apiVersion: `api.content.${domain}/v1alpha1`,
    path: '/',
    routes: [
      { method: 'GET', path: '/posts', handler: (request) => listPublished(type, request) },
      { method: 'GET', path: '/posts/{name}', handler: (request) => readPublished(type, request) },
      { method: 'GET', path: '/tags', handler: (request) => countTags(type, request) },
    ],
  };
}

/**
 * The field selector of the posts for which `isPublic` returns true. `!=` and `notin` also match posts without a value.
 */
const published =
  'spec.publish=true,spec.deleted!=true,spec.visible notin (INTERNAL,PRIVATE),!metadata.deletionTimestamp';
const sizeDefault = 20;
const sizeMax = 100;

async function listPublished(type: TypeName, { query, pluginClient }: RouteRequest): Promise<RouteResponse> {
  const page = positiveInteger(query['page'], 1);
  const size = positiveInteger(query['size'], sizeDefault);
  if (page === undefined || size === undefined || size > sizeMax)
    throw badRequest(`page and size must be whole numbers of at least 1, and size must be at most ${String(sizeMax)}`);
  const tag = query['tag'];
  if (Array.isArray(tag)) throw badRequest('the parameter tag must not be repeated');
  const names = [query['name'] ?? []].flat();
  if (names.length > sizeMax) throw badRequest(`the parameter name must occur at most ${String(sizeMax)} times`);
  const fieldSelector = [
    published,
    ...(typeof tag === 'string' ? [`spec.tags=${escapeSelectorValue(tag)}`] : []),
    ...(names.length > 0 ? [`metadata.name in (${names.map(escapeSelectorValue).join(',')})`] : []),
  ];
  const list = await pluginClient.list<Post>(type, { fieldSelector, sort: 'spec.publishTime,desc', page, size });
  return {
    body: {
      page,
      size,
      total: list.total,
      items: list.items.map(summaryOf),
    },
  };
}

async function readPublished(type: TypeName, { params, pluginClient }: RouteRequest): Promise<RouteResponse> {
  const name = params['name'] ?? '';
  const found = await pluginClient.get<Post>(type, name);
  if (found === undefined || !isPublic(found)) throw notFound(type, name);
  return { body: { ...summaryOf(found), content: found.spec.content ?? '' } };
}

/** Returns the number of published posts of each tag, most frequent tags first. */
async function countTags(type: TypeName, { pluginClient, signal }: RouteRequest): Promise<RouteResponse> {
  const counts = new Map<string, number>();
  for await (const found of publishedPosts(type, pluginClient, signal)) {
    for (const tag of found.spec.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  const items = [...counts]
    .map(([tag, posts]) => ({ tag, posts }))
    .sort((left, right) => right.posts - left.posts || (left.tag < right.tag ? -1 : 1));
  return { body: { total: items.length, items } };
}

/** Yields the published posts. Reads one page at a time, so that memory use does not depend on the number of posts. */
async function* publishedPosts(type: TypeName, client: Client, signal: AbortSignal): AsyncGenerator<Post> {
  for (let page = 1; !signal.aborted; page += 1) {
    const { items } = await client.list<Post>(type, { fieldSelector: published, page, size: sizeMax });
    yield* items;
    if (items.length < sizeMax) return;
  }
}

function summaryOf(found: Post): Readonly<Record<string, unknown>> {
  const { title, slug, owner, tags = [], publishTime } = found.spec;
  const { permalink, excerpt, readingMinutes, comments } = found.status ?? {};
  return {
    name: found.metadata.name,
    title,
    slug,
    owner,
    tags,
    publishTime,
    permalink,
    excerpt,
    readingMinutes,
    comments,
  };
}
