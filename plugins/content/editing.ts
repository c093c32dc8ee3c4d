import {
  defineRoute,
  type ControllerDeclaration,
  type RouteDeclaration,
  type RouteRequest,
} from '../../src/plugin/api/plugin.ts';
import { post, type Post } from './post.ts';
import { publish, unpublish } from './publication.ts';
import { notFound } from './refusals.ts';

const readVersion = {
  type: 'object',
  required: ['metadata'],
  properties: {
    metadata: {
      type: 'object',
      required: ['resourceVersion'],
      properties: { resourceVersion: { type: 'string' } },
    },
  },
} as const;

/**
 * Declares the routes with which editors publish and unpublish the posts of all authors. The publication time is the
 * server's time. The body contains the version that the editor has read, so that an editor cannot publish an unread
 * text.
 */
export function editing(domain: string): ControllerDeclaration {
  const type = post(domain);
  const action = (name: string, patchOf: PatchOf): RouteDeclaration =>
    defineRoute({
      method: 'PUT',
      path: `/posts/{name}/${name}`,
      request: { body: readVersion },
      handler: async (request) => {
        const { params, body, pluginClient } = request;
        const object = params.name;
        const found = await pluginClient.get(type, object);
        if (found === undefined) throw notFound(type, object);
        const { resourceVersion } = body.metadata;
        return { body: await pluginClient.patch(type, object, patchOf(found, request), { resourceVersion }) };
      },
    });
  return {
    apiVersion: `console.api.content.${domain}/v1alpha1`,
    path: '/',
    routes: [action('publish', publish), action('unpublish', unpublish)],
  };
}

type PatchOf = (object: Post, request: Pick<RouteRequest, 'time'>) => object;
