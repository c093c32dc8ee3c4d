import { unescapeToken } from '../../base/reference-token.ts';
/**
 * Finds members in JSON bytes without parsing. The JSON must be as `JSON.stringify` writes it: without white space, and
 * with one encoding of each name.
 */

/** The members to find, as a tree of their pointers. */
export type WantedMembers = {
  /** The indexes in `Places` for this value. */
  readonly places: number[];
  readonly members: WantedMember[];
};

type WantedMember = {
  /** The member's name as written in JSON, between its quotes. */
  readonly name: Buffer;
  /** The name as an array index; -1 if the name is not an index. */
  readonly index: number;
  readonly wanted: WantedMembers;
};

/** Builds the tree for JSON pointers. The index of a pointer in `pointers` is its index in `Places`. */
export function wantedMembers(pointers: readonly string[]): WantedMembers {
  const root: WantedMembers = { places: [], members: [] };
  for (const [place, pointer] of pointers.entries()) {
    let node = root;
    for (const segment of pointer.split('/').slice(1)) node = childOf(node, unescapeToken(segment));
    node.places.push(place);
  }
  return root;
}

function childOf({ members }: WantedMembers, segment: string): WantedMembers {
  const name = Buffer.from(JSON.stringify(segment).slice(1, -1));
  const present = members.find((member) => member.name.equals(name));
  if (present !== undefined) return present.wanted;
  const wanted: WantedMembers = { places: [], members: [] };
  members.push({
    name,
    index: /^(?:0|[1-9]\d{0,8})$/u.test(segment) ? Number(segment) : -1,
    wanted,
  });
  return wanted;
}

/** The start and end of each pointer's value, as offsets. A start of -1 means that the value is missing. */
export type Places = {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
};

export function placesFor(count: number): Places {
  return { starts: new Int32Array(count), ends: new Int32Array(count) };
}

const quote = 0x22,
  backslash = 0x5c,
  comma = 0x2c,
  brace = 0x7b,
  bracket = 0x5b,
  closingBrace = 0x7d,
  closingBracket = 0x5d;

/** Records the offsets of the wanted members of the value at `at`. Returns the offset after the value. */
export function findMembers(bytes: Uint8Array, at: number, wanted: WantedMembers, places: Places): number {
  places.starts.fill(-1);
  return find(bytes, at, wanted, places);
}

function find(bytes: Uint8Array, at: number, { places: own, members }: WantedMembers, places: Places): number {
  const first = bytes[at];
  let end: number;
  if (members.length === 0) end = endOfValue(bytes, at);
  else if (first === brace) end = findInObject(bytes, at, members, places);
  else if (first === bracket) end = findInArray(bytes, at, members, places);
  else end = endOfValue(bytes, at);
  for (const place of own) {
    places.starts[place] = at;
    places.ends[place] = end;
  }
  return end;
}

function findInObject(bytes: Uint8Array, start: number, members: readonly WantedMember[], places: Places): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== closingBrace) {
    const end = endOfString(bytes, at);
    const member = memberNamed(bytes, at + 1, end - 1, members);
    at = member === undefined ? endOfValue(bytes, end + 1) : find(bytes, end + 1, member.wanted, places);
    if (bytes[at] === comma) at += 1;
  }
  return at + 1;
}

function findInArray(bytes: Uint8Array, start: number, members: readonly WantedMember[], places: Places): number {
  let at = start + 1;
  for (let index = 0; at < bytes.length && bytes[at] !== closingBracket; index += 1) {
    const member = members.find((one) => one.index === index);
    at = member === undefined ? endOfValue(bytes, at) : find(bytes, at, member.wanted, places);
    if (bytes[at] === comma) at += 1;
  }
  return at + 1;
}

function memberNamed(
  bytes: Uint8Array,
  start: number,
  end: number,
  members: readonly WantedMember[],
): WantedMember | undefined {
  for (const member of members) {
    const { name } = member;
    if (name.length !== end - start) continue;
    let same = 0;
    while (same < name.length && name[same] === bytes[start + same]) same += 1;
    if (same === name.length) return member;
  }
  return undefined;
}

function endOfValue(bytes: Uint8Array, start: number): number {
  let at = start;
  let depth = 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at) - 1;
      if (depth === 0) return at + 1;
    } else if (byte === brace || byte === bracket) {
      depth += 1;
    } else if (byte === closingBrace || byte === closingBracket) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) {
      return at;
    }
  }
  return at;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
}
