/** The part of a selector at the caret, which a suggestion replaces. */
export type SelectorPart = {
  readonly kind: 'key' | 'value';
  /** The offsets of the part in the selector. */
  readonly from: number;
  readonly to: number;
  /** The part up to the caret, without escapes. */
  readonly typed: string;
  /** The key to which the value belongs. */
  readonly key: string;
};

const keyForm = /^\s*!?\s*(?<typed>[^\s=!<>^(),\\]*)$/u;
const valueForm = /^\s*(?<key>[^\s=!<>^(),\\]+)\s*(?:\^=|[=!<>]=?|=)\s*(?<typed>(?:[^,()\\]|\\.)*)$/u;
const listForm =
  /^\s*(?<key>[^\s=!<>^(),\\]+)\s*(?:=|!=|\s+in|\s+notin)\s*\((?:(?:[^,()\\]|\\.)*,)*\s*(?<typed>(?:[^,()\\]|\\.)*)$/u;

/** Returns the part of a selector at the caret; undefined if nothing can be suggested there. */
export function partAt(selector: string, caret: number): SelectorPart | undefined {
  const start = requirementStart(selector, caret);
  const head = selector.slice(start, caret);
  const key = keyForm.exec(head)?.groups;
  if (key !== undefined) return partOf('key', { selector, caret, typed: key['typed'] ?? '', key: '' });
  const value = (valueForm.exec(head) ?? listForm.exec(head))?.groups;
  if (value === undefined) return undefined;
  return partOf('value', { selector, caret, typed: value['typed'] ?? '', key: value['key'] ?? '' });
}

type Found = { readonly selector: string; readonly caret: number; readonly typed: string; readonly key: string };

function partOf(kind: SelectorPart['kind'], { selector, caret, typed, key }: Found): SelectorPart {
  const rest = /^(?:[^\s=!<>^(),\\]|\\.)*/u.exec(selector.slice(caret))?.[0] ?? '';
  return { kind, from: caret - typed.length, to: caret + rest.length, typed: typed.replaceAll(/\\(.)/gu, '$1'), key };
}

/** Returns the offset after the last comma that separates requirements. */
function requirementStart(selector: string, caret: number): number {
  let start = 0;
  let depth = 0;
  for (let index = 0; index < caret; index += 1) {
    const character = selector[index];
    if (character === '\\') index += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth <= 0) start = index + 1;
  }
  return start;
}

/** Returns whether a selector ends within a requirement, so that it must not take effect yet. */
export function isUnfinished(selector: string): boolean {
  return /[=<>^!(,]\s*$/u.test(selector);
}
