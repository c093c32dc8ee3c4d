import { ownObjects, type ControllerDeclaration, type RouteRequest } from '../../src/plugin/api/plugin.ts';
import { checkAuthorSpec, editorialMembers } from './author-members.ts';
import { post, type Post } from './post.ts';

/**
 * Declares the routes for the caller's own posts (decision 6.9). Here, only the actions `publish` and `unpublish`
 * change the publication of a post. Thus a role can grant the right to write posts without the right to publish them.
 */
export function ownPosts(domain: string): ControllerDeclaration {
  const type = post(domain);
  return ownObjects({
    type,
    apiVersion: `uc.api.${type.group}/${type.version}`,
    path: '/posts',
    owner: 'owner',
    kept: ['publish', 'publishTime', ...editorialMembers],
    check: checkAuthorSpec,
    actions: { publish, unpublish: () => ({ spec: { publish: false, publishTime: null } }) },
  });
}

/** Publishes a post. A post that is already published keeps its publication time. */
function publish({ spec }: Post, { time }: RouteRequest): object {
  const publishTime = spec.publish === true ? (spec.publishTime ?? time) : time;
  return { spec: { publish: true, publishTime } };
}
