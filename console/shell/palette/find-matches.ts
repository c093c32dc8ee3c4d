import { typePath, type ServedType } from '../../server/served-types.ts';

/** A page that the palette can open. */
export type Match = {
  readonly kind: 'page' | 'type' | 'object';
  readonly title: string;
  /** A text that distinguishes matches with the same title, for example the group of a type. */
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
 * Returns the pages and types with names that contain the text, and the found objects. Exact matches are first, then
 * the objects, then names that begin with the text, then all others.
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
      title: type.title,
      place: type.group,
      to: `/objects/${typePath(type)}`,
      names: [type.title, ...namesOf(type), `${type.plural}.${type.group}`],
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

/** A search for objects by the start of their names, in several types. */
export type ObjectSearch = { readonly types: readonly ServedType[]; readonly prefix: string };

/** The minimum length of a text that is searched in the names of all types' objects. */
const textLengthMin = 2;

/**
 * Returns the search for objects in a text. `<type> <start of a name>` searches one type. The start of a name searches
 * all types, beginning with the type of the shown page.
 */
export function splitQuery(
  text: string,
  types: readonly ServedType[],
  here: ServedType | undefined,
): ObjectSearch | undefined {
  const [first = '', ...rest] = text.trim().toLowerCase().split(/\s+/u);
  const type = types.find((each) => namesOf(each).includes(first));
  if (type !== undefined) return { types: [type], prefix: rest.join('-') };
  if (first.length < textLengthMin) return undefined;
  const isHere = ({ group, plural }: ServedType): boolean => group === here?.group && plural === here.plural;
  return {
    types: [...types.filter(isHere), ...types.filter((each) => !isHere(each))],
    prefix: [first, ...rest].join('-'),
  };
}
