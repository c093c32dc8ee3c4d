import { escapeToken } from '../../base/reference-token.ts';
import { strideMax, type Steps } from '../../base/steps.ts';

/** One operation of a JSON Patch (RFC 6902) that describes a change. */
export type Operation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Up to this number of operations within an object or array are kept, even if one operation for the whole object or
 * array would be shorter. They name the changed members.
 */
const keptOperations = 16;
/** The maximum number of characters of the operations that `keptOperations` keeps, without their values. */
const keptCharacters = 4_096;
/** The approximate number of characters of an operation, without its path and value. */
const operationCharacters = 30;

/**
 * Computes the change between two JSON values as a JSON Patch, in steps. Many operations within an object or array
 * become one operation for the whole object or array if this is shorter.
 *
 * The work is linear in the size of the values, because elements of arrays are compared by index. If the lengths
 * differ, equal elements at both ends are skipped first. Undefined members are treated as absent.
 */
export function* jsonDiff(before: unknown, after: unknown): Steps<readonly Operation[]> {
  const patch: Operation[] = [];
  yield* new Difference(patch).compare(before, after, '');
  return patch;
}

type Members = Readonly<Record<string, unknown>>;
type Ends = {
  readonly start: number;
  readonly end: number;
  readonly characters: number;
};

const noEnds: Ends = { start: 0, end: 0, characters: 0 };

type ReplacedValue = {
  readonly path: string;
  readonly after: unknown;
};

class Difference {
  readonly #patch: Operation[];
  #visited = 0;

  constructor(patch: Operation[]) {
    this.#patch = patch;
  }

  /**
   * Compares two values, and adds the operations for the value at `path`. Returns the approximate number of compared
   * characters.
   */
  *compare(before: unknown, after: unknown, path: string): Steps<number> {
    if (this.#isStride()) yield;
    if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
      if (before !== after) this.#patch.push({ op: 'replace', path, value: after });
      return charactersOf(after);
    }
    const first = this.#patch.length;
    const compared =
      Array.isArray(before) && Array.isArray(after)
        ? yield* this.#elements(before, after, path)
        : yield* this.#members(before, after, path);
    this.#shorten(first, compared, { path, after });
    return compared;
  }

  *#members(before: Members, after: Members, path: string): Steps<number> {
    let compared = 2;
    for (const member of Object.keys(before)) {
      if (before[member] === undefined) continue;
      const place = `${path}/${escapeToken(member)}`;
      compared += member.length + 4;
      if (isPresent(after, member)) compared += yield* this.compare(before[member], after[member], place);
      else this.#patch.push({ op: 'remove', path: place });
    }
    for (const member of Object.keys(after)) {
      if (after[member] === undefined || isPresent(before, member)) continue;
      this.#patch.push({
        op: 'add',
        path: `${path}/${escapeToken(member)}`,
        value: after[member],
      });
    }
    return compared;
  }

  *#elements(before: readonly unknown[], after: readonly unknown[], path: string): Steps<number> {
    const ends = before.length === after.length ? noEnds : yield* this.#ends(before, after);
    const { start, end } = ends;
    const [left, right] = [before.length - end, after.length - end];
    let compared = 2 + ends.characters;
    for (let index = start; index < Math.min(left, right); index += 1)
      compared += 1 + (yield* this.compare(before[index], after[index], `${path}/${String(index)}`));
    for (let index = left; index < right; index += 1) {
      if (this.#isStride()) yield;
      this.#patch.push({
        op: 'add',
        path: `${path}/${String(index)}`,
        value: after[index],
      });
    }
    for (let index = left - 1; index >= right; index -= 1) {
      if (this.#isStride()) yield;
      this.#patch.push({ op: 'remove', path: `${path}/${String(index)}` });
    }
    return compared;
  }

  /** Returns the number of equal elements at the start, and the number of further equal elements at the end. */
  *#ends(before: readonly unknown[], after: readonly unknown[]): Steps<Ends> {
    const most = Math.min(before.length, after.length);
    let [start, end, characters] = [0, 0, 0];
    for (; start < most; start += 1) {
      const equal = yield* this.#equal(before[start], after[start]);
      if (equal === undefined) break;
      characters += equal;
    }
    for (; end < most - start; end += 1) {
      const equal = yield* this.#equal(before[before.length - 1 - end], after[after.length - 1 - end]);
      if (equal === undefined) break;
      characters += equal;
    }
    return { start, end, characters };
  }

  /** Returns the approximate number of characters if the values are equal; undefined otherwise. */
  *#equal(before: unknown, after: unknown): Steps<number | undefined> {
    const stack: unknown[] = [before, after];
    let characters = 0;
    while (stack.length > 0) {
      if (this.#isStride()) yield;
      const [right, left] = [stack.pop(), stack.pop()];
      characters += charactersOf(left);
      if (left !== right && !pushMembers(stack, left, right)) return undefined;
    }
    return characters;
  }

  #isStride(): boolean {
    this.#visited += 1;
    return this.#visited % strideMax === 0;
  }

  /**
   * Replaces the operations from the index `first` on by one operation for the whole value if this is shorter. Keeps a
   * few short operations (`keptOperations`).
   */
  #shorten(first: number, compared: number, whole: ReplacedValue): void {
    const count = this.#patch.length - first;
    if (count < 2) return;
    let characters = 0;
    for (let index = first; index < this.#patch.length; index += 1)
      characters += (this.#patch[index]?.path.length ?? 0) + operationCharacters;
    if (characters <= compared || (count <= keptOperations && characters <= keptCharacters)) return;
    this.#patch.length = first;
    this.#patch.push({ op: 'replace', path: whole.path, value: whole.after });
  }
}

function isContainer(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function isPresent(members: Members, member: string): boolean {
  return Object.hasOwn(members, member) && members[member] !== undefined;
}

/**
 * Pushes pairs of members to compare. Returns false if the two values certainly differ: two different scalars, or
 * values that differ in kind, in length or in their member names.
 */
function pushMembers(stack: unknown[], left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) stack.push(left[index], right[index]);
    return true;
  }
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) || Array.isArray(right)) return false;
  const members = presentMembers(left);
  if (members.length !== presentMembers(right).length) return false;
  for (const member of members) {
    if (!isPresent(right, member)) return false;
    stack.push(left[member], right[member]);
  }
  return true;
}

function presentMembers(members: Members): readonly string[] {
  return Object.keys(members).filter((member) => members[member] !== undefined);
}

function charactersOf(value: unknown): number {
  return typeof value === 'string' ? value.length + 2 : 8;
}
