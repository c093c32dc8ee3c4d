/**
 * The entries of `nonResourceURLs` in a rule: a path, `<p>/*` for all paths under p, or `*` for every path. A `*`
 * elsewhere is a literal character. An entry matches a request if the entry equals one of the request's `pathTexts`.
 */

type PathRequest = {
  readonly verb: string;
  readonly path: string;
  readonly segments: readonly string[];
};

/**
 * Returns the texts of all entries that match a request: the path, `*`, and `<p>/*` for each parent path p down to
 * `depthMax`. `depthMax` is the maximum `wildcardDepth` of the entries. A GET of a discovery path also matches `/api`
 * or `/apis`, because the right to read this root includes the discovery paths below.
 */
export function pathTexts(request: PathRequest, depthMax: number): readonly string[] {
  const { verb, path, segments } = request;
  const found = [path, '*'];
  let depth = 0;
  for (
    let slash = path.indexOf('/');
    slash !== -1 && slash < path.length - 1 && depth <= depthMax;
    slash = path.indexOf('/', slash + 1)
  ) {
    found.push(`${path.slice(0, slash)}/*`);
    depth += 1;
  }
  if (verb === 'get' && isDiscovery(segments)) found.push(`/${segments[0] ?? ''}`);
  return found;
}

/** Returns whether the path is `/api/<v>`, `/apis/<g>` or `/apis/<g>/<v>`. */
function isDiscovery(segments: readonly string[]): boolean {
  const [root] = segments;
  return (
    (root === 'api' && segments.length === 2) || (root === 'apis' && (segments.length === 2 || segments.length === 3))
  );
}

/** Returns the number of slashes before the final `/*`; -1 for an entry without a final `/*`. */
export function wildcardDepth(entry: string): number {
  return entry.endsWith('/*') ? entry.split('/').length - 2 : -1;
}

/** Returns whether `wider` matches every path that `entry` matches. */
export function isPathWithin(entry: string, wider: string): boolean {
  if (wider === '*' || wider === entry) return true;
  return wider.endsWith('/*') && entry.startsWith(wider.slice(0, -1)) && entry.length >= wider.length;
}
