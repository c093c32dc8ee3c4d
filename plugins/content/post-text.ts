const excerptLengthMax = 200;
const wordsPerMinute = 200;

/** Where a post is to be found, by what people call it. */
export function permalinkOf(name: string, slug: string | undefined): string {
  return `/posts/${slug ?? name}`;
}

/** How a text begins, cut between words and without markup. */
export function excerptOf(content: string): string {
  // More than enough of it: nobody needs the end of a long text to see how it begins.
  const text = content.slice(0, excerptLengthMax * 20).replaceAll(/<[^<>]*>/gu, ' ').replaceAll(/[\s#*_>`]+/gu, ' ').trim();
  if (text.length <= excerptLengthMax) return text;
  const cut = text.slice(0, excerptLengthMax);
  const end = cut.lastIndexOf(' ');
  return `${cut.slice(0, end > 0 ? end : wholeCharacters(cut))}…`;
}

/** Not within a character that takes two places. */
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

/** Whole minutes, at least one where there is something to read. Where words are not set apart each character counts as one. */
export function readingMinutesOf(content: string): number {
  let words = 0;
  for (const _word of content.matchAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu)) words += 1;
  return Math.ceil(words / wordsPerMinute);
}
