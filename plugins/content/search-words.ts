/** The maximum number of words of one object, below the platform's limit of 256 values in an index. */
const wordsMax = 200;
const wordLengthMax = 40;

/** The maximum length, in characters, of an indexed word in a script without spaces. */
const runLengthMax = 12;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const word = new RegExp(`[${unspaced}]+|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, 'gu');
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');

/**
 * Returns the words of texts, in lower case, for a search by the beginnings of words. In scripts without spaces, a word
 * begins at each character.
 */
export function searchWords(texts: readonly string[]): readonly string[] {
  const words = new Set<string>();
  for (const text of texts)
    for (const [found] of text.normalize('NFKC').toLowerCase().matchAll(word)) {
      for (const each of isUnspaced.test(found) ? beginnings(found) : [found.slice(0, wordLengthMax)]) words.add(each);
      if (words.size >= wordsMax) return [...words].slice(0, wordsMax);
    }
  return [...words];
}

function beginnings(run: string): readonly string[] {
  const characters = Array.from(run);
  return characters.map((_, index) => characters.slice(index, index + runLengthMax).join(''));
}
