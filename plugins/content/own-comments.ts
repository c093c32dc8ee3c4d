import { ownObjects, type ControllerDeclaration } from '../../src/plugin/api/plugin.ts';
import { comment } from './comment.ts';

/** Declares the routes that list, read and delete the caller's own comments. */
export function ownComments(domain: string): ControllerDeclaration {
  return ownObjects({
    type: comment(domain),
    apiVersion: `uc.api.content.${domain}/v1alpha1`,
    path: '/comments',
    owner: 'author',
    verbs: ['list', 'get', 'delete'],
  });
}
