import type { ObjectMetadata } from 'ledgerplane/client';

export const visibilities = ['PUBLIC', 'INTERNAL', 'PRIVATE'] as const;
export type Visibility = (typeof visibilities)[number];

/** The members of `spec` that an author edits. */
export type PostDraft = {
  readonly title: string;
  readonly slug?: string | undefined;
  /** The text, in Markdown. */
  readonly content?: string | undefined;
  readonly excerpt?: { readonly autoGenerate?: boolean; readonly raw?: string } | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly cover?: string | undefined;
  readonly allowComment?: boolean | undefined;
  readonly visible?: Visibility | undefined;
  readonly pinned?: boolean | undefined;
};

export type Post = {
  readonly metadata: ObjectMetadata;
  readonly spec: PostDraft & {
    readonly owner?: string | undefined;
    readonly publish?: boolean;
    readonly publishTime?: string | undefined;
    readonly submitted?: boolean;
    readonly deleted?: boolean;
  };
  readonly status?: { readonly permalink?: string; readonly comments?: number; readonly readingMinutes?: number };
};

/** A post without its texts, as in lists. */
export type PostSummary = Pick<Post, 'metadata' | 'status'> & {
  readonly spec: Omit<Post['spec'], 'content' | 'excerpt'>;
};

export type PostState = 'draft' | 'review' | 'published' | 'bin';

export function stateOf({ spec }: Pick<PostSummary, 'spec'>): PostState {
  if (spec.deleted === true) return 'bin';
  if (spec.publish === true) return 'published';
  return spec.submitted === true ? 'review' : 'draft';
}

/** The badge colour of each state. */
export const stateTones = { draft: 'neutral', review: 'warn', published: 'good', bin: 'bad' } as const;

/** The members of a draft, in the order in which a form shows them. */
export const draftMembers = [
  'title',
  'content',
  'slug',
  'excerpt',
  'tags',
  'categories',
  'cover',
  'allowComment',
  'visible',
  'pinned',
] as const;

export function draftOf({ spec }: Pick<Post, 'spec'>): PostDraft {
  const { title, content, slug, excerpt, tags, categories, cover, allowComment, visible, pinned } = spec;
  return { title, content, slug, excerpt, tags, categories, cover, allowComment, visible, pinned };
}

/** Returns whether two values of a member are equal. An absent member, an empty text and an empty list are equal. */
export function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(normal(left)) === JSON.stringify(normal(right));
}

export function isSameDraft(left: PostDraft, right: PostDraft): boolean {
  return draftMembers.every((member) => isSame(left[member], right[member]));
}

/** Returns the merge patch of `spec` that turns `base` into `draft`; undefined if nothing has changed. */
export function changesOf(base: PostDraft, draft: PostDraft): Readonly<Record<string, unknown>> | undefined {
  const changed = draftMembers.filter((member) => !isSame(base[member], draft[member]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((member) => [member, normal(draft[member])] as const));
}

/** Returns the spec of a new post. */
export function specOf(draft: PostDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    draftMembers.map((member) => [member, normal(draft[member])] as const).filter(([, value]) => value !== null),
  );
}

function normal(value: unknown): unknown {
  const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return isEmpty ? null : value;
}

/** Returns a slug for a title; an empty one if the title has no Latin letters or digits. */
export function slugOf(title: string): string {
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .replaceAll(/^-+|-+$/gu, '')
    .slice(0, 100)
    .replace(/-+$/u, '');
}
