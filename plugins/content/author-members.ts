import { ClientError } from '../../src/plugin/api/plugin.ts';
import type { Post } from './post.ts';

/**
 * The members of a post that only editors may change, with the values that are equivalent to a missing member. Authors
 * may send the present values, so that they can write an unchanged post.
 */
const editorial = new Map<string, unknown>([
  ['visible', 'PUBLIC'],
  ['deleted', false],
  ['pinned', false],
  ['priority', 0],
  ['releaseSnapshot', ''],
]);

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the spec to write: the author's spec without the members that authors must not set, and with the members of
 * `kept`. `stored` is the present spec of the post, which is empty for a new post. A value that is not an object is
 * returned unchanged, because the schema refuses it.
 *
 * @throws 422 if the author's spec changes a member that only editors may change.
 */
export function authorSpec(spec: unknown, stored: Partial<Post['spec']>, kept: Members): unknown {
  if (!isMembers(spec)) return spec;
  const { owner: _owner, publish: _publish, publishTime: _publishTime, ...given } = spec;
  const present = new Map<string, unknown>(Object.entries(stored));
  const errors: { readonly pointer: string; readonly detail: string }[] = [];
  for (const [member, neutral] of editorial) {
    if (!Object.hasOwn(given, member)) continue;
    if ((given[member] ?? neutral) !== (present.get(member) ?? neutral))
      errors.push({ pointer: `/spec/${member}`, detail: 'may be changed only by editors of all posts' });
  }
  if (errors.length > 0)
    throw new ClientError(errors.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; '), {
      reason: 'Invalid',
      status: 422,
      errors,
    });
  const allowed = Object.entries(given).filter(([member]) => !(editorial.has(member) && present.has(member)));
  return { ...Object.fromEntries(allowed), ...kept };
}

/** Returns the members of a stored post that are kept when the author replaces the post. */
export function keptSpec(stored: Post['spec']): Members {
  const names = ['owner', 'publish', 'publishTime', ...editorial.keys()];
  return Object.fromEntries(Object.entries(stored).filter(([member]) => names.includes(member)));
}

/**
 * Returns the metadata to write, without finalizers and owner references of the author. The post is written with the
 * plugin's rights, but its author must not be able to block the deletion of the post by moderators (finalizers) or the
 * deletion of other objects (owner references).
 */
export function authorMetadata({ metadata }: Members, kept: Members): { readonly metadata?: unknown } {
  if (!isMembers(metadata)) return metadata === undefined ? {} : { metadata };
  const { finalizers: _finalizers, ownerReferences: _ownerReferences, ...allowed } = metadata;
  return { metadata: { ...allowed, ...kept } };
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
