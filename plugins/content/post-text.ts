const excerptLengthMax = 200;
const wordsPerMinute = 200;

export function permalinkOf(name: string, slug: string | undefined): string {
  return `/posts/${slug ?? name}`;
}

/** Returns the beginning of a text without markup. A longer text is cut at a space if possible, and ends with `…`. */
export function excerptOf(content: string): string {
  // Processes only the beginning of a long text. Twenty times the maximum length usually leaves enough characters
  // without markup.
  const text = content
    .slice(0, excerptLengthMax * 20)
    .replaceAll(/<[^<>]*>/gu, ' ')
    .replaceAll(/[\s#*_>`]+/gu, ' ')
    .trim();
  if (text.length <= excerptLengthMax) return text;
  const cut = text.slice(0, excerptLengthMax);
  const end = cut.lastIndexOf(' ');
  return `${cut.slice(0, end > 0 ? end : wholeCharacters(cut))}…`;
}

/** Returns the length of the text in UTF-16 code units, without an unpaired high surrogate at the end. */
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`;
const word = new RegExp(`[${unspaced}]|[^\\s${unspaced}]+`, 'gu');

/** Returns the reading time in minutes, rounded up. In scripts without spaces, each character is counted as a word. */
export function readingMinutesOf(content: string): number {
  let words = 0;
  for (const _word of content.matchAll(word)) words += 1;
  return Math.ceil(words / wordsPerMinute);
}
