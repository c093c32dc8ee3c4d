/**
 * The entries of `resources` in a rule (decision 6.5). An entry matches a request if it equals one of the texts that
 * `resourceText` and `resourcePatterns` return for the request, or if it is `*`. A `*` is a wildcard only as the whole
 * entry, or as the whole part before or after a single slash.
 */

/**
 * Returns the main text of a request: `R` for a resource, or `R/S` for a subresource. An entry `R` does not match a
 * request for `R/S`.
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

/** Reads an entry as `P/R` or `P/R/S`, with a plugin's name P; undefined for an entry without a slash. */
export function pluginForm(entry: string): PluginForm | undefined {
  const slash = entry.indexOf('/');
  return slash === -1 ? undefined : { plugin: entry.slice(0, slash), within: entry.slice(slash + 1) };
}

/**
 * Returns the possible meanings of an entry: `A/B` means subresource B of resource A, or resource B of plugin A. Each
 * meaning is a list of entries. Each entry of the list matches at least the requests that `entry` matches in this
 * meaning.
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
