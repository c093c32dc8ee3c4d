import type { TextPlace } from './text-place.ts';

type Token = { readonly kind: 'word' | 'sign'; readonly from: number; readonly to: number; readonly text: string };

type Frame = {
  readonly kind: 'object' | 'array';
  /** The member, or the index of the item, that is being read. */
  at: string | number;
  expects: 'key' | 'value';
  readonly keys: string[];
};

const tokens = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gu;

/** Returns the place at an offset of a JSON text. */
export function jsonPlace(text: string, offset: number): TextPlace | undefined {
  const frames: Frame[] = [];
  let found: { readonly place: Omit<TextPlace, 'present' | 'hasColon'>; readonly frame: Frame } | undefined;
  let hasColon = false;
  let previous: Token | undefined;
  for (const token of [...tokensIn(text), endOf(text)]) {
    if (found === undefined && isReached(token, offset)) {
      const frame = frames.at(-1);
      if (frame === undefined) return undefined;
      found = { frame, place: placeIn(frames, frame, wordAt(token, offset)) };
      hasColon = token.kind === 'sign' && token.text === ':';
    } else if (found !== undefined && previous !== undefined && previous.to === found.place.to)
      hasColon ||= token.text === ':';
    take(token, frames);
    if (found !== undefined && !frames.includes(found.frame)) break;
    previous = token;
  }
  if (found === undefined) return undefined;
  const present = new Set(found.frame.keys);
  if (found.place.kind === 'key') present.delete(found.place.word);
  return { ...found.place, present, hasColon };
}

function* tokensIn(text: string): Generator<Token> {
  for (const { 0: matched, index } of text.matchAll(tokens)) {
    const kind = /^[{}[\],:]$/u.test(matched) ? 'sign' : 'word';
    yield { kind, from: index, to: index + matched.length, text: matched };
  }
}

function endOf({ length }: string): Token {
  return { kind: 'sign', from: length, to: length, text: '' };
}

function isReached({ kind, from, to }: Token, offset: number): boolean {
  return kind === 'word' ? offset <= to : offset <= from;
}

/** Returns the word that a token is, or the empty word before it. */
function wordAt({ kind, from, to, text }: Token, offset: number): Pick<TextPlace, 'from' | 'to' | 'word'> {
  if (kind === 'sign' || offset < from) return { from: offset, to: offset, word: '' };
  return { from, to, word: unquoted(text) };
}

function placeIn(
  frames: readonly Frame[],
  frame: Frame,
  word: Pick<TextPlace, 'from' | 'to' | 'word'>,
): Omit<TextPlace, 'present' | 'hasColon'> {
  const around = frames.slice(0, -1).map(({ at }) => at);
  const isKey = frame.kind === 'object' && frame.expects === 'key';
  return { ...word, path: isKey ? around : [...around, frame.at], kind: isKey ? 'key' : 'value', column: 0 };
}

/** Follows a token: begins and ends objects and arrays, and reads names of members. */
function take({ kind, text }: Token, frames: Frame[]): void {
  const frame = frames.at(-1);
  if (kind === 'word') {
    if (frame?.kind === 'object' && frame.expects === 'key') {
      frame.at = unquoted(text);
      frame.keys.push(frame.at);
    }
    return;
  }
  if (text === '{') frames.push({ kind: 'object', at: '', expects: 'key', keys: [] });
  else if (text === '[') frames.push({ kind: 'array', at: 0, expects: 'value', keys: [] });
  else if (text === '}' || text === ']') frames.pop();
  else if (frame?.kind === 'object' && text === ':') frame.expects = 'value';
  else if (frame?.kind === 'object' && text === ',') frame.expects = 'key';
  else if (typeof frame?.at === 'number' && text === ',') frame.at += 1;
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const closed = text.length > 1 && text.endsWith('"') ? text : `${text}"`;
  try {
    return String(JSON.parse(closed));
  } catch {
    return closed.slice(1, -1);
  }
}
