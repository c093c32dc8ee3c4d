import type { TextPlace } from './text-place.ts';

type Token = { readonly kind: 'word' | 'sign'; readonly from: number; readonly to: number; readonly text: string };

type Frame = {
  readonly kind: 'object' | 'array';
  /** The current member, or the index of the current item. */
  at: string | number;
  expects: 'key' | 'value';
  readonly keys: string[];
};

const tokens = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gu;

/** Returns the place at an offset of a JSON text. */
export function jsonPlace(text: string, offset: number): TextPlace | undefined {
  const frames: Frame[] = [];
  let found: { readonly place: Omit<TextPlace, 'present' | 'hasColon'>; readonly frame: Frame } | undefined;
  const all = [...tokensIn(text), endOf(text)];
  for (const token of all) {
    if (found === undefined && isReached(token, offset)) {
      const frame = frames.at(-1);
      if (frame === undefined) return undefined;
      found = { frame, place: placeIn(frames, frame, wordAt(token, offset)) };
    }
    take(token, frames);
    // The object is read to its end, so that the names of its other members are known.
    if (found !== undefined && !frames.includes(found.frame)) break;
  }
  if (found === undefined) return undefined;
  const { frame, place } = found;
  const present = new Set(frame.keys);
  if (place.kind === 'key') present.delete(place.word);
  const next = all.find(({ from }) => from >= place.to);
  return { ...place, present, hasColon: next?.text === ':' };
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

/** Returns the word of a token, or the empty word before the token. */
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

/** Applies a token: begins and ends objects and arrays, and reads the names of members. */
function take({ kind, text }: Token, frames: Frame[]): void {
  const frame = frames.at(-1);
  if (kind === 'word') name(text, frame);
  else if (text === '{') frames.push({ kind: 'object', at: '', expects: 'key', keys: [] });
  else if (text === '[') frames.push({ kind: 'array', at: 0, expects: 'value', keys: [] });
  else if (text === '}' || text === ']') frames.pop();
  else if (frame !== undefined) separate(text, frame);
}

/** Applies a word, which may be the name of a member. */
function name(text: string, frame: Frame | undefined): void {
  if (frame?.kind !== 'object' || frame.expects !== 'key') return;
  frame.at = unquoted(text);
  frame.keys.push(frame.at);
}

/** Applies a colon or a comma. */
function separate(text: string, frame: Frame): void {
  if (frame.kind === 'object') frame.expects = text === ':' ? 'value' : 'key';
  else if (typeof frame.at === 'number' && text === ',') frame.at += 1;
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
