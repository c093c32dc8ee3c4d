import { ClientError } from '../../src/plugin/api/plugin.ts';
import type { Post } from './post.ts';

/** The members of a post that only editors may change. */
export const editorialMembers = ['visible', 'deleted', 'pinned', 'priority', 'releaseSnapshot'] as const;

/**
 * The values that are equivalent to a missing member. If the stored post lacks a member, an author may send this value.
 */
const neutral: Required<Pick<Post['spec'], (typeof editorialMembers)[number]>> = {
  visible: 'PUBLIC',
  deleted: false,
  pinned: false,
  priority: 0,
  releaseSnapshot: '',
};

/** Throws a refusal (422) if the author's spec changes a member that only editors may change. */
export function checkAuthorSpec(spec: Readonly<Record<string, unknown>>, stored: Post | undefined): void {
  const errors = editorialMembers
    .filter((member) => Object.hasOwn(spec, member))
    .filter((member) => (spec[member] ?? neutral[member]) !== (stored?.spec[member] ?? neutral[member]))
    .map((member) => ({ pointer: `/spec/${member}`, detail: 'may be changed only by editors of all posts' }));
  if (errors.length === 0) return;
  throw new ClientError(errors.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; '), {
    reason: 'Invalid',
    status: 422,
    errors,
  });
}
