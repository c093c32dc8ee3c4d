import type { PostDraft } from '../posts/post.ts';

/** An unsaved draft. `base`, `uid` and `version` are the state of the post that the draft changes. */
export type KeptDraft = {
  readonly draft: PostDraft;
  readonly base: PostDraft;
  readonly uid?: string | undefined;
  readonly version?: string | undefined;
};

const keptMax = 20;
/**
 * The kept drafts by key, least recently kept first. `sessionStorage` also keeps each draft for a reload of the page,
 * unless the storage is full.
 */
const kept = new Map<string, KeptDraft>();
const prefix = 'ledgerplane.content.draft.';

export function keepDraft(key: string, draft: KeptDraft): void {
  kept.delete(key);
  kept.set(key, draft);
  const [oldest] = kept.keys();
  if (kept.size > keptMax && oldest !== undefined) forgetDraft(oldest);
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(prefix + key);
  }
}

export function keptDraft(key: string): KeptDraft | undefined {
  return kept.get(key) ?? stored(key);
}

export function forgetDraft(key: string): void {
  kept.delete(key);
  sessionStorage.removeItem(prefix + key);
}

function stored(key: string): KeptDraft | undefined {
  const text = sessionStorage.getItem(prefix + key);
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isKept(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isKept(value: unknown): value is KeptDraft {
  return isObject(value) && isDraft(value['draft']) && isDraft(value['base']);
}

function isDraft(value: unknown): boolean {
  return isObject(value) && typeof value['title'] === 'string';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
