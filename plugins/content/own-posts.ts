import { ownObjects, type ControllerDeclaration } from '../../src/plugin/api/plugin.ts';
import { checkAuthorSpec, editorialMembers } from './author-members.ts';
import { post } from './post.ts';
import { publish, unpublish } from './publication.ts';

/**
 * Declares the routes for the caller's own posts (docs/spec/decisions.md, 6.9). Only the actions `publish` and
 * `unpublish` of these routes change the publication of a post. Thus a role can grant the right to write posts without
 * the right to publish them.
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
    summary: ({ spec: { content: _, excerpt: __, ...spec }, ...object }) => ({ ...object, spec }),
    actions: { publish, unpublish },
  });
}
