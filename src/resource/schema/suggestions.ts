/**
 * Returns a hint for an unknown word: a similar known word, or else the list of known words. The hint is empty if the
 * list is empty or too long.
 */
export function otherWords(word: string, known: readonly string[]): string {
  const near = nearWord(word, known);
  if (near !== undefined) return `; did you mean ${JSON.stringify(near)}?`;
  return known.length === 0 || known.length > listedMax ? '' : `; must be one of ${known.join(', ')}`;
}

/** The maximum number of known words that a hint lists. */
const listedMax = 16;

/**
 * Returns the most similar known word, regardless of case; undefined if no word is similar. In a longer word, more
 * letters may differ.
 */
export function nearWord(word: string, known: readonly string[]): string | undefined {
  if (word.length > comparedLengthMax) return undefined;
  const far = word.length < 4 ? 1 : word.length < 12 ? 2 : 3;
  const near = known
    .map((each) => ({ each, distance: distance(word.toLowerCase(), each.toLowerCase(), far) }))
    .sort((left, right) => left.distance - right.distance)[0];
  return near !== undefined && near.distance <= far && near.distance < word.length ? near.each : undefined;
}

/** Longer words are not compared, because the time grows with the product of the lengths. */
const comparedLengthMax = 64;

/**
 * Returns the edit distance (insertion, deletion, substitution, transposition). If the lengths differ by more than
 * `max`, returns `max + 1`.
 */
function distance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let twoAbove: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_none, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const present = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      present.push(
        Math.min(
          at(above, column) + 1,
          at(present, column - 1) + 1,
          at(above, column - 1) + Number(!isSame),
          isSwapped ? at(twoAbove, column - 2) + 1 : Infinity,
        ),
      );
    }
    twoAbove = above;
    above = present;
  }
  return at(above, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
