import { selectorBytesMax, selectorRequirementsMax, selectorSetValuesMax } from '../../limits/lists.ts';
import type { FieldRequirement, LabelRequirement } from './list-query.ts';
import { keyProblem, labelValueProblem } from '../type/names.ts';

/**
 * The result of parsing a selector. The grammar of decision 4.2 is a superset of Kubernetes' selectors. Parsing takes
 * time that is linear in the length of the text, even if the text is invalid.
 */
export type ParsedSelector<R> =
  { readonly ok: true; readonly requirements: readonly R[] } | { readonly ok: false; readonly problem: string };

/**
 * Parses the values of the parameter `labelSelector`. An object must match all requirements in all values. Without
 * values, or with only blank values, every object matches.
 */
export function parseLabelSelector(texts: readonly string[]): ParsedSelector<LabelRequirement> {
  return parse(texts, 'labelSelector', labelRequirement);
}

export function parseFieldSelector(texts: readonly string[]): ParsedSelector<FieldRequirement> {
  return parse(texts, 'fieldSelector', fieldRequirement);
}

/**
 * Returns the name if `metadata.name=<name>` is the only condition; undefined otherwise. A list or watch of a single
 * name is authorized like a request for the name (decision 6.5).
 */
export function namedBy(requirements: readonly FieldRequirement[]): string | undefined {
  const [only, ...others] = requirements;
  if (only?.field !== 'metadata.name' || only.operator !== 'in' || others.length > 0 || only.values.length !== 1)
    return undefined;
  return only.values[0];
}

type Comparison = '<' | '<=' | '>' | '>=' | '^=';

/** One condition, before it is interpreted as a label or field condition. */
type Condition =
  | { readonly subject: string; readonly operator: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly subject: string; readonly operator: 'exists' | 'absent' }
  | { readonly subject: string; readonly operator: Comparison; readonly value: string };

/** Interprets a condition. For an invalid condition, calls `refuse` and returns null. */
type Reading<R> = (condition: Condition, refuse: (problem: string) => null) => R | null;

function parse<R>(texts: readonly string[], parameter: string, read: Reading<R>): ParsedSelector<R> {
  const requirements: R[] = [];
  for (const text of texts) {
    if (text.length > selectorBytesMax || Buffer.byteLength(text) > selectorBytesMax) {
      return { ok: false, problem: `${parameter}: must be at most ${String(selectorBytesMax)} bytes` };
    }
    const cursor = new Cursor(text);
    if (!parseInto(cursor, requirements, read)) return { ok: false, problem: `${parameter}: ${cursor.problem}` };
  }
  return { ok: true, requirements };
}

function parseInto<R>(cursor: Cursor, requirements: R[], read: Reading<R>): boolean {
  cursor.skipBlanks();
  if (cursor.ended()) return true;
  do {
    cursor.skipBlanks();
    const start = cursor.at;
    if (requirements.length === selectorRequirementsMax) {
      cursor.fail(`more than ${String(selectorRequirementsMax)} requirements`);
      return false;
    }
    const condition = parseCondition(cursor);
    const requirement = condition === null ? null : read(condition, (problem) => cursor.fail(problem, start));
    if (requirement === null) return false;
    requirements.push(requirement);
  } while (cursor.take(','));
  return true;
}

function parseCondition(cursor: Cursor): Condition | null {
  const negated = cursor.take('!');
  if (negated) cursor.skipBlanks();
  const subject = cursor.word(subjectEnds);
  if (subject === null) return null;
  if (subject === '') return cursor.fail('a key is expected');
  cursor.skipBlanks();
  const condition: Condition | null = negated ? { subject, operator: 'absent' } : parseOperation(cursor, subject);
  cursor.skipBlanks();
  if (condition === null || cursor.ended() || cursor.sees(',')) return condition;
  return cursor.fail('"," or the end is expected');
}

function parseOperation(cursor: Cursor, subject: string): Condition | null {
  if (cursor.ended() || cursor.sees(',')) return { subject, operator: 'exists' };
  for (const operator of comparisons) {
    if (!cursor.take(operator)) continue;
    const value = parseValue(cursor);
    return value === null ? null : { subject, operator, value };
  }
  for (const [sign, operator] of equalities) {
    if (!cursor.take(sign)) continue;
    cursor.skipBlanks();
    const values = cursor.sees('(') ? parseSet(cursor) : parseSingle(cursor);
    return values === null ? null : { subject, operator, values };
  }
  return parseKeyword(cursor, subject);
}

function parseKeyword(cursor: Cursor, subject: string): Condition | null {
  const start = cursor.at;
  const keyword = cursor.word(subjectEnds);
  if (keyword === null) return null;
  if (keyword !== 'in' && keyword !== 'notin') return cursor.fail('an operator is expected', start);
  cursor.skipBlanks();
  if (!cursor.sees('(')) return cursor.fail(`"(" is expected after "${keyword}"`);
  const values = parseSet(cursor);
  return values === null ? null : { subject, operator: keyword === 'in' ? 'in' : 'notIn', values };
}

function parseSingle(cursor: Cursor): readonly string[] | null {
  const value = parseValue(cursor);
  return value === null ? null : [value];
}

function parseValue(cursor: Cursor): string | null {
  cursor.skipBlanks();
  const value = cursor.word(valueEnds);
  if (value === null || cursor.ended() || cursor.sees(',')) return value;
  return cursor.fail('"=", "(" and ")" in a value must be escaped with a backslash');
}

/** Parses a set `(a, b)`. As in Kubernetes, an entry may be empty, but the set must not be empty. */
function parseSet(cursor: Cursor): readonly string[] | null {
  const start = cursor.at;
  cursor.take('(');
  cursor.skipBlanks();
  if (cursor.sees(')')) return cursor.fail('the set is empty', start);
  const values = new Set<string>();
  for (let count = 1; count <= selectorSetValuesMax; count++) {
    cursor.skipBlanks();
    const value = cursor.word(valueEnds);
    if (value === null) return null;
    values.add(value);
    if (cursor.take(')')) return [...values];
    if (!cursor.take(',')) return cursor.fail(cursor.ended() ? 'the set is not closed' : '"," or ")" is expected');
  }
  return cursor.fail(`more than ${String(selectorSetValuesMax)} values in one set`);
}

/** The parser tries the operators in this order, so `<=` must precede `<`. */
const comparisons = ['<=', '<', '>=', '>', '^='] as const;
const equalities = [
  ['==', 'in'],
  ['=', 'in'],
  ['!=', 'notIn'],
] as const;
const blanks = ' \t\r\n';
const subjectEnds = `=!<>^(),${blanks}`;
const valueEnds = '=(),';
/** Characters that can be escaped. An escaped blank may start or end a value. */
const escapable = `,=\\()${blanks}`;

/** The number of characters that a message shows before and after the offset of a problem. */
const excerptLength = 24;

class Cursor {
  readonly #text: string;
  /** The offset of the next character, which never decreases. */
  at = 0;
  /** The first problem, with its offset and an excerpt of the text. */
  problem = '';

  constructor(text: string) {
    this.#text = text;
  }

  ended(): boolean {
    return this.at >= this.#text.length;
  }

  sees(sign: string): boolean {
    return this.#text.startsWith(sign, this.at);
  }

  take(sign: string): boolean {
    if (!this.sees(sign)) return false;
    this.at += sign.length;
    return true;
  }

  skipBlanks(): void {
    while (!this.ended() && blanks.includes(this.#text.charAt(this.at))) this.at++;
  }

  /**
   * Reads the text up to an unescaped character of `ends`. Resolves escapes and removes trailing blanks. Returns null
   * for an invalid escape.
   */
  word(ends: string): string | null {
    let read = '';
    let kept = 0;
    while (!this.ended()) {
      let character = this.#text.charAt(this.at);
      if (ends.includes(character)) break;
      const isEscape = character === '\\';
      if (isEscape) {
        character = this.#text.charAt(this.at + 1);
        if (character === '' || !escapable.includes(character))
          return this.fail('a backslash must precede one of , = \\ ( ) or a blank');
        this.at++;
      }
      this.at++;
      read += character;
      if (isEscape || !blanks.includes(character)) kept = read.length;
    }
    return read.slice(0, kept);
  }

  fail(problem: string, place: number = this.at): null {
    if (this.problem !== '') return null;
    const before = this.#text.slice(Math.max(0, place - excerptLength), place);
    const after = this.#text.slice(place, place + excerptLength);
    this.problem = `${problem} at offset ${String(place)}: ${JSON.stringify(`${before}‸${after}`)}`;
    return null;
  }
}

function labelRequirement(condition: Condition, refuse: (problem: string) => null): LabelRequirement | null {
  const keyIs = keyProblem(condition.subject);
  if (keyIs !== undefined) return refuse(`invalid label key: ${keyIs}`);
  const { subject: key } = condition;
  switch (condition.operator) {
    case 'exists':
    case 'absent':
      return { key, operator: condition.operator };
    case 'in':
    case 'notIn': {
      const valueIs = condition.values.map(labelValueProblem).find((problem) => problem !== undefined);
      return valueIs === undefined
        ? { key, operator: condition.operator, values: condition.values }
        : refuse(`a label value ${valueIs}`);
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
    case '^=':
      return refuse(`labels cannot be compared with "${condition.operator}": only fields can (fieldSelector)`);
  }
}

function fieldRequirement(condition: Condition): FieldRequirement {
  const { subject: field } = condition;
  switch (condition.operator) {
    case 'exists':
    case 'absent':
      return { field, operator: condition.operator };
    case 'in':
    case 'notIn':
      return { field, operator: condition.operator, values: condition.values };
    case '<':
    case '<=':
    case '>':
    case '>=':
    case '^=':
      return { field, operator: condition.operator, value: condition.value };
  }
}
