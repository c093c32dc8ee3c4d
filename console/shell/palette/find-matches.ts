import { typePath, type ServedType } from '../../server/served-types.ts';

/** A place that the palette leads to. */
export type Match = {
  readonly kind: 'page' | 'type' | 'object';
  readonly title: string;
  /** Tells matches of the same title apart, for example the group of a type. */
  readonly place: string;
  /** The address in the console. */
  readonly to: string;
};

export type Searched = {
  readonly pages: readonly { readonly path: string; readonly title: string }[];
  readonly types: readonly ServedType[];
};

const matchesMax = 40;

/**
 * Returns the pages and types with the text in their names, and the found objects. Those whose whole name is the text
 * are first, then objects, then the names that begin with the text.
 */
export function findMatches(
  text: string,
  { pages, types }: Searched,
  objects: readonly Match[] = [],
): readonly Match[] {
  const wanted = text.trim().toLowerCase();
  const all: readonly (Match & { readonly names: readonly string[] })[] = [
    ...pages.map(({ path, title }) => ({ kind: 'page' as const, title, place: '', to: path, names: [title] })),
    ...types.map((type) => ({
      kind: 'type' as const,
      title: type.kind,
      place: type.group,
      to: `/objects/${typePath(type)}`,
      names: [...namesOf(type), `${type.plural}.${type.group}`],
    })),
  ];
  const rank = ({ names }: { readonly names: readonly string[] }): number =>
    Math.min(...names.map((name) => placeOf(name.toLowerCase(), wanted)));
  const found = all
    .map((match) => ({ match, at: rank(match) }))
    .filter(({ at }) => at < Infinity)
    .sort((left, right) => left.at - right.at)
    .slice(0, matchesMax)
    .map(({ match: { kind, title, place, to }, at }) => ({ match: { kind, title, place, to }, at }));
  const named = found.filter(({ at }) => at === wholeName).map(({ match }) => match);
  return [...named, ...objects, ...found.filter(({ at }) => at !== wholeName).map(({ match }) => match)];
}

const wholeName = -1;

function placeOf(name: string, wanted: string): number {
  if (name === wanted) return wholeName;
  const at = name.indexOf(wanted);
  return at === -1 ? Infinity : at;
}

function namesOf({ kind, plural, singular, shortNames }: ServedType): readonly string[] {
  return [kind.toLowerCase(), plural, singular, ...shortNames];
}

/** A search for objects of one type by the start of their names. */
export type ObjectSearch = { readonly type: ServedType; readonly prefix: string };

/**
 * Returns the search for objects that the text asks for: `<type> <start of the name>`, or the start of a name on a page
 * of `here`. Returns undefined if the text names no type.
 */
export function splitQuery(
  text: string,
  types: readonly ServedType[],
  here: ServedType | undefined,
): ObjectSearch | undefined {
  const [first = '', ...rest] = text.trim().toLowerCase().split(/\s+/u);
  const type = types.find((each) => namesOf(each).includes(first));
  if (type !== undefined) return { type, prefix: rest.join('-') };
  return here === undefined || first === '' ? undefined : { type: here, prefix: first };
}
