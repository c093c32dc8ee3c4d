/**
 * Entries of `resources` (decision 6.5). An entry matches a request when it is one of the texts the request goes by, so that
 * nothing is parsed to decide. A `*` is a wildcard alone, as all before the slash, or as all after it; elsewhere it is itself.
 */

/** What a request goes by: `R` or `R/S`, as an entry is or as what follows the plugin's name in one. `R` is not among what `R/S` goes by. */
export function resourceText(resource: string, subresource: string | undefined): string {
  return hasNone(subresource) ? resource : `${resource}/${subresource}`;
}

// What a request for a subresource goes by beside that: `*/S` and `R/*`.
export function resourcePatterns(resource: string, subresource: string | undefined): readonly string[] {
  return hasNone(subresource) ? noPatterns : [`*/${subresource}`, `${resource}/*`];
}

const noPatterns: readonly string[] = [];

function hasNone(subresource: string | undefined): subresource is undefined | '' {
  return subresource === undefined || subresource === '';
}

/** An entry read as the plugin's form: `P/R`, `P/R/S`. */
export function pluginForm(entry: string): { readonly plugin: string; readonly within: string } | undefined {
  const slash = entry.indexOf('/');
  return slash === -1 ? undefined : { plugin: entry.slice(0, slash), within: entry.slice(slash + 1) };
}

/**
 * Every request the entry matches falls under one of the readings answered, and each reading is the list of the entries that
 * match all of it. `A/B` has two: resource A with subresource B, and resource B of plugin A.
 */
export function readingsOf(entry: string): readonly (readonly string[])[] {
  const [first = '', second, third, ...more] = entry.split('/');
  if (second === undefined || more.length > 0) return [['*', entry]];
  if (third !== undefined) return [['*', entry, `${second}/${third}`, `${second}/*`, `*/${third}`]];
  if (first === '*' || second === '*') return [['*', entry]];
  return [['*', entry, `${first}/*`, `*/${second}`], ['*', entry, second]];
}
