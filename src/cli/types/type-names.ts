export type NamedType = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
};

/**
 * The names of a type in a file: of the TypeScript type of its objects, and of the constant that identifies the type in
 * calls of a client.
 */
export type DeclaredNames = {
  readonly type: string;
  readonly constant: string;
};

/**
 * Names that the generated file imports or uses. A type with such a kind gets a longer name.
 */
const typeNamesTaken: ReadonlySet<string> = new Set([
  'ObjectMetadata',
  'PluginObject',
  'TypeName',
  'Typed',
  'Readonly',
  'Record',
]);
const reservedWords = `
  arguments async await boolean break case catch class const continue debugger default delete do else
  enum eval export extends false finally for function if implements import in instanceof interface let
  new null number object package private protected public return static string super switch symbol
  this throw true try type typeof undefined unknown var void while with yield
`;
const constantsTaken: ReadonlySet<string> = new Set(reservedWords.trim().split(/\s+/u));

/**
 * Returns distinct names, in the order of `types`. A type with a unique kind that is not taken gets the kind as its
 * name. Other types get the kind and the group, and also the plural if the name is still not unique.
 */
export function namesOf(types: readonly NamedType[]): readonly DeclaredNames[] {
  const forms = types.map((type) => formsOf(type));
  const chosen = forms.map(() => 0);
  for (;;) {
    const names = forms.map((form, index) => declared(form[chosen[index] ?? 0] ?? ''));
    const clashing = clashesOf(names).filter((place) => (chosen[place] ?? 0) < (forms[place]?.length ?? 0) - 1);
    if (clashing.length === 0) return numbered(names);
    for (const place of clashing) chosen[place] = (chosen[place] ?? 0) + 1;
  }
}

function formsOf({ group, kind, plural }: NamedType): readonly string[] {
  const qualified = `${kind}${group === '' ? 'Core' : camelCase(group)}`;
  return [kind, qualified, `${qualified}${camelCase(plural)}`];
}

function clashesOf(names: readonly DeclaredNames[]): readonly number[] {
  const types = countOf(names.map(({ type }) => type));
  const constants = countOf(names.map(({ constant }) => constant));
  return names.flatMap(({ type, constant }, index) =>
    typeNamesTaken.has(type) || types.get(type) !== 1 || constants.get(constant) !== 1 ? [index] : [],
  );
}

/** Appends numbers to names that are still equal, for example because `a.b` and `a-b` have the same camel case form. */
function numbered(names: readonly DeclaredNames[]): readonly DeclaredNames[] {
  const clashing = new Set(clashesOf(names));
  const taken = new Set(names.filter((_, index) => !clashing.has(index)).flatMap(({ constant }) => [constant]));
  return names.map((name, index) => {
    if (!clashing.has(index)) return name;
    for (let count = 2; ; count += 1) {
      const free = declared(`${name.type}${String(count)}`);
      if (taken.has(free.constant)) continue;
      taken.add(free.constant);
      return free;
    }
  });
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function declared(type: string): DeclaredNames {
  const constant = type.replace(/^[A-Z]+(?![a-z])|^[A-Z]/u, (first) => first.toLowerCase());
  return { type, constant: constantsTaken.has(constant) ? `${constant}Type` : constant };
}

function camelCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
