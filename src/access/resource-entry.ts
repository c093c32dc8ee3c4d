/**
 * The entries of `resources` in a rule (decision 6.5). An entry matches a request if it equals one of the request's
 * texts, so entries are not parsed during a decision. A `*` is a wildcard if it is the whole entry, or if the entry has
 * one slash and `*` is the whole part before or after it. Elsewhere, `*` is a literal character.
 */

/**
 * Returns the main text of a request: `R` for a resource, or `R/S` for a subresource. For an entry that begins with a
 * plugin's name, the text is compared with the rest of the entry. The texts of a request for `R/S` do not include `R`,
 * so an entry `R` does not match the request.
 */
export function resourceText(resource: string, subresource: string | undefined): string {
  return hasNone(subresource) ? resource : `${resource}/${subresource}`;
}

// Returns the further texts of a request for subresource S of resource R: `*/S` and `R/*`. None for a resource.
export function resourcePatterns(resource: string, subresource: string | undefined): readonly string[] {
  return hasNone(subresource) ? noPatterns : [`*/${subresource}`, `${resource}/*`];
}

const noPatterns: readonly string[] = [];

function hasNone(subresource: string | undefined): subresource is undefined | '' {
  return subresource === undefined || subresource === '';
}

type PluginForm = {
  readonly plugin: string;
  readonly within: string;
};

/**
 * Reads an entry as `P/R` or `P/R/S`. Returns the plugin's name P and the rest; undefined if the entry has no slash.
 */
export function pluginForm(entry: string): PluginForm | undefined {
  const slash = entry.indexOf('/');
  return slash === -1 ? undefined : { plugin: entry.slice(0, slash), within: entry.slice(slash + 1) };
}

/**
 * Returns the possible meanings of an entry. `A/B` has two meanings: subresource B of resource A, and resource B of
 * plugin A. Each meaning is returned as a list of entries. Each of these entries matches every request that `entry`
 * matches in this meaning.
 */
export function readingsOf(entry: string): readonly (readonly string[])[] {
  const [first = '', second, third, ...more] = entry.split('/');
  if (second === undefined || more.length > 0) return [['*', entry]];
  if (third !== undefined) return [['*', entry, `${second}/${third}`, `${second}/*`, `*/${third}`]];
  if (first === '*' || second === '*') return [['*', entry]];
  return [
    ['*', entry, `${first}/*`, `*/${second}`],
    ['*', entry, second],
  ];
}
