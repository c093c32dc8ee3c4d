/**
 * Entries of `resources` (decision 6.5). An entry matches a request when it equals one of the request's texts, so
 * entries are not parsed during a decision. A `*` is a wildcard when it is the whole entry, or the whole part before or
 * after the only slash; elsewhere it is a literal character.
 */

/**
 * Returns the main text of a request: `R` for a resource, or `R/S` for a subresource. The text is also compared with
 * the part of an entry after a plugin's name. The texts of a request for `R/S` do not include `R`, so an entry `R` does
 * not match the request.
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

/** Reads an entry as `P/R` or `P/R/S`, and returns the plugin's name P and the rest; undefined if there is no slash. */
export function pluginForm(entry: string): PluginForm | undefined {
  const slash = entry.indexOf('/');
  return slash === -1 ? undefined : { plugin: entry.slice(0, slash), within: entry.slice(slash + 1) };
}

/**
 * Returns the possible meanings of an entry. `A/B` has two: resource A with subresource B, and resource B of plugin A.
 * Each meaning is a list of the entries that cover it, that is, which match every request that the entry matches in
 * this meaning.
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
