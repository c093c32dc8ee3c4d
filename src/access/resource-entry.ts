/**
 * Entries of `resources` (decision 6.5). An entry matches a request when it equals one of the request's texts, so
 * entries are not parsed during a decision. A `*` is a wildcard when it is the whole part before or after the slash;
 * elsewhere it is a literal character.
 */

/**
 * Returns the request's main text: `R` or `R/S`. The text is also compared with the part of an entry after a plugin's
 * name. A request for `R/S` does not have the text `R`.
 */
export function resourceText(resource: string, subresource: string | undefined): string {
  return hasNone(subresource) ? resource : `${resource}/${subresource}`;
}

// Further texts of a request for a subresource: `*/S` and `R/*`.
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

/** Splits an entry of the form `P/R` or `P/R/S` into the plugin's name and the rest. */
export function pluginForm(entry: string): PluginForm | undefined {
  const slash = entry.indexOf('/');
  return slash === -1 ? undefined : { plugin: entry.slice(0, slash), within: entry.slice(slash + 1) };
}

/**
 * Returns the readings of an entry: every request that the entry matches belongs to one reading. Each reading lists the
 * entries that match all of its requests. `A/B` has two readings: resource A with subresource B, and resource B of
 * plugin A.
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
