import { ClientError } from '../../src/plugin/api/plugin.ts';
import type { Post } from './post.ts';

/**
 * The members of a post that only a site's editors decide, with the values that equal their absence. Authors may send
 * the present values, so that they can write a post back unchanged.
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
 * The spec to write: the author's spec, without the members that authors must not set, and with `kept`. `stored` is the
 * present spec of the post, empty for a new one. The schema refuses a value that is not an object.
 *
 * @throws 422 if the author's spec changes a decision of the editors.
 */
export function authorSpec(spec: unknown, stored: Partial<Post['spec']>, kept: Members): unknown {
  if (!isMembers(spec)) return spec;
  const { owner: _owner, publish: _publish, publishTime: _publishTime, ...given } = spec;
  const present = new Map<string, unknown>(Object.entries(stored));
  const errors: { readonly pointer: string; readonly detail: string }[] = [];
  for (const [member, neutral] of editorial) {
    if (!Object.hasOwn(given, member)) continue;
    if ((given[member] ?? neutral) !== (present.get(member) ?? neutral))
      errors.push({ pointer: `/spec/${member}`, detail: 'only editors of all posts may change it' });
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

/** The members of a stored post that a replacement by its author keeps. */
export function keptSpec(stored: Post['spec']): Members {
  const names = ['owner', 'publish', 'publishTime', ...editorial.keys()];
  return Object.fromEntries(Object.entries(stored).filter(([member]) => names.includes(member)));
}

/**
 * Written with the plugin's rights, a post must not have members that its author has no right to set: finalizers block
 * moderators, and owner references block the owner's deletion.
 */
export function authorMetadata({ metadata }: Members, kept: Members): { readonly metadata?: unknown } {
  if (!isMembers(metadata)) return metadata === undefined ? {} : { metadata };
  const { finalizers: _finalizers, ownerReferences: _ownerReferences, ...allowed } = metadata;
  return { metadata: { ...allowed, ...kept } };
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
