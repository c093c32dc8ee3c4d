/**
 * Refuses patterns that may take exponential time because a repetition contains another repetition, like `(a+)+`. A
 * pattern like `(-[a-z]+)*` is accepted, because no other part of the repetition matches the `-`.
 *
 * Equal alternatives (`(a|a)*`) and polynomial time (`\s+$` on a very long string) are not detected. Plugins are
 * trusted code, so the check only needs to detect common mistakes.
 */
type Node =
  /** Matches one character. `source`: the pattern of the allowed characters, such as `a` or `[a-z]`. */
  | { readonly kind: 'set'; readonly source: string }
  | { readonly kind: 'assertion' }
  | { readonly kind: 'group'; readonly alternatives: readonly (readonly Node[])[] }
  | { readonly kind: 'repeat'; readonly body: Node; readonly unbounded: boolean };

/**
 * Returns the problem of a pattern; undefined if the pattern is accepted. The pattern must compile with the `u` flag.
 */
export function patternProblem(pattern: string): string | undefined {
  const parsed: Node = { kind: 'group', alternatives: new PatternParser(pattern).alternatives() };
  return isSafe(parsed)
    ? undefined
    : 'repeats a group that contains a repetition, which can take exponential time: begin the group with a ' +
        'separator that no other part of the group can match';
}

function isSafe(node: Node): boolean {
  if (node.kind === 'group') return node.alternatives.every((nodes) => nodes.every(isSafe));
  if (node.kind !== 'repeat') return true;
  if (!isSafe(node.body)) return false;
  if (!node.unbounded || node.body.kind !== 'group') return true;
  const all = setsIn(node.body);
  return node.body.alternatives.every((nodes) => !nodes.some(repeats) || isDelimited(nodes, all));
}

function repeats(node: Node): boolean {
  if (node.kind === 'repeat') return node.unbounded || repeats(node.body);
  return node.kind === 'group' && node.alternatives.some((nodes) => nodes.some(repeats));
}

function isDelimited(nodes: readonly Node[], all: readonly Node[]): boolean {
  const consuming = nodes.filter((node) => node.kind !== 'assertion');
  return [consuming.at(0), consuming.at(-1)].some(
    (edge) =>
      edge?.kind === 'set' &&
      all.every((other) => other === edge || other.kind !== 'set' || !overlap(edge.source, other.source)),
  );
}

function setsIn(node: Node): readonly Node[] {
  if (node.kind === 'set') return [node];
  if (node.kind === 'repeat') return setsIn(node.body);
  return node.kind === 'group' ? node.alternatives.flat().flatMap(setsIn) : [];
}

/** ASCII and some other characters. Two sets are treated as disjoint if none of these characters is in both sets. */
const probes = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCodePoint(code)),
  '\u00e9',
  '\u0416',
  '\u05d0',
  '\u0905',
  '\u4e2d',
  '\u2028',
  '\u{1f600}',
];

function overlap(left: string, right: string): boolean {
  const [one, other] = [new RegExp(`^${left}$`, 'u'), new RegExp(`^${right}$`, 'u')];
  return probes.some((probe) => one.test(probe) && other.test(probe));
}

const quantifier = /[*+?]\??|\{(\d+)(,(\d*))?\}\??/uy;
const escapeSequence =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*|.)/suy;
const characterClass = /\[(?:\\.|[^\]\\])*\]/suy;
const groupStart = /\((?:\?(?::|=|!|<=|<!|<[^>]+>))?/uy;
const any = '[^]';
/** A repetition of this many times or more is treated as unbounded, because `(a+){30}` is as expensive as `(a+)+`. */
const repeatsMax = 10;

class PatternParser {
  readonly #pattern: string;
  /** The UTF-16 offset of the next character to read. */
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** Parses the pattern up to the closing parenthesis of the current group, or up to the end. */
  alternatives(): readonly (readonly Node[])[] {
    const alternatives: Node[][] = [[]];
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ')') {
      if (this.#pattern[this.#at] === '|') {
        this.#at += 1;
        alternatives.push([]);
      } else {
        alternatives.at(-1)?.push(this.#quantified(this.#atom()));
      }
    }
    return alternatives;
  }

  #atom(): Node {
    if (this.#take(groupStart) !== undefined) {
      const alternatives = this.alternatives();
      this.#at += 1;
      return { kind: 'group', alternatives };
    }
    const set = this.#take(characterClass);
    if (set !== undefined) return { kind: 'set', source: set };
    const escaped = this.#take(escapeSequence);
    if (escaped !== undefined) return escapedNode(escaped);
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character === '^' || character === '$' ? { kind: 'assertion' } : { kind: 'set', source: character };
  }

  #quantified(body: Node): Node {
    quantifier.lastIndex = this.#at;
    const match = quantifier.exec(this.#pattern);
    if (match === null) return body;
    this.#at = quantifier.lastIndex;
    const [text, least, range, most] = match;
    const times = range === undefined ? Number(least) : Number(most === '' ? Infinity : most);
    return {
      kind: 'repeat',
      body,
      unbounded: text.startsWith('*') || text.startsWith('+') || times >= repeatsMax,
    };
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at;
    const text = token.exec(this.#pattern)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }
}

function escapedNode(escaped: string): Node {
  if (escaped === '\\b' || escaped === '\\B') return { kind: 'assertion' };
  // The parser does not know which characters a back reference matches, so the reference is treated as any character.
  return { kind: 'set', source: /^\\(?:k<|[1-9])/u.test(escaped) ? any : escaped };
}
