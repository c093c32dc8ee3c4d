/** The path of a tile in https://c2sp.org/tlog-tiles: `<level>/<number>[.p/<width>]`. */
export type TilePath = {
  /** The level of a tile of hashes; `entries` for a bundle of entries. */
  readonly level: number | 'entries';
  readonly number: number;
  /** The number of hashes or entries in the tile: 256 for a full tile. */
  readonly width: number;
};

export const tileWidth = 256;
const levelMax = 63;

/** Returns undefined if the segments are not the path of a tile. */
export function parseTilePath([levelText = '', ...rest]: readonly string[]): TilePath | undefined {
  const level = levelText === 'entries' ? levelText : numberIn(levelText, levelMax);
  const { names, width } = split(rest);
  const number = tileNumber(names);
  return level === undefined || width === undefined || number === undefined ? undefined : { level, number, width };
}

type SplitPath = {
  readonly names: readonly string[];
  readonly width: number | undefined;
};

/** Splits a path into the segments of the tile number, and the width after `.p`. */
function split(segments: readonly string[]): SplitPath {
  const [lastName = '', last = ''] = segments.slice(-2);
  if (segments.length < 2 || !lastName.endsWith('.p')) return { names: segments, width: tileWidth };
  const width = numberIn(last, tileWidth - 1);
  return { names: [...segments.slice(0, -2), lastName.slice(0, -2)], width: width === 0 ? undefined : width };
}

/** Decodes a tile number: `x001/x234/067` is 1234067. */
function tileNumber(names: readonly string[]): number | undefined {
  const isWellFormed = names.every((name, index) => (index === names.length - 1 ? /^\d{3}$/u : /^x\d{3}$/u).test(name));
  if (!isWellFormed || names.length === 0 || (names.length > 1 && names[0] === 'x000')) return undefined;
  return Number(names.map((name) => name.slice(-3)).join(''));
}

function numberIn(text: string, max: number): number | undefined {
  if (!/^(?:0|[1-9]\d{0,2})$/u.test(text)) return undefined;
  const number = Number(text);
  return number <= max ? number : undefined;
}
