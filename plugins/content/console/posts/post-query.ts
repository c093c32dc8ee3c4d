import type { ListQuery } from '../listing/use-listing.ts';
import type { PostState } from './post.ts';

export type PostQuery = ListQuery<PostState | 'all'>;

const present = 'spec.deleted!=true';
const selectors: Readonly<Record<PostQuery['state'], readonly string[]>> = {
  all: [present],
  draft: [present, 'spec.publish!=true', 'spec.submitted!=true'],
  review: [present, 'spec.publish!=true', 'spec.submitted=true'],
  published: [present, 'spec.publish=true'],
  bin: ['spec.deleted=true'],
};

const wordsMax = 8;
const wordLengthMax = 12;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const word = new RegExp(`[${unspaced}]+|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, 'gu');

/**
 * Returns the field selectors of a query. Each word of the filter selects posts by the index `words`, which contains
 * the lowercase words of titles and tags.
 */
export function selectorsOf({ state, filter }: Pick<PostQuery, 'state' | 'filter'>): readonly string[] {
  const words = filter.normalize('NFKC').toLowerCase().match(word) ?? [];
  return [...selectors[state], ...words.slice(0, wordsMax).map((each) => `words^=${each.slice(0, wordLengthMax)}`)];
}
