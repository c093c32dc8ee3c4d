/**
 * The entries of `nonResourceURLs` in a rule. An entry is a path, `<p>/*` for all paths under p, or `*` for every path.
 * A `*` elsewhere is a literal character. An entry matches a request if it equals one of the texts that `pathTexts`
 * returns for the request.
 */

type PathRequest = {
  readonly verb: string;
  readonly path: string;
  readonly segments: readonly string[];
};

/**
 * Returns the texts of all entries that match a request: the path, `*`, and `<p>/*` for each parent path p. Parents
 * deeper than `depthMax` are left out, so that a long path takes no more time. `depthMax` is the maximum
 * `wildcardDepth` of the entries. For a GET of a discovery path, the result also contains `/api` or `/apis`, because
 * the right to read this root includes the paths of discovery below it.
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

/** Whether the path is `/api/<v>`, `/apis/<g>` or `/apis/<g>/<v>`. */
function isDiscovery(segments: readonly string[]): boolean {
  const [root] = segments;
  return (
    (root === 'api' && segments.length === 2) || (root === 'apis' && (segments.length === 2 || segments.length === 3))
  );
}

/** Returns the number of slashes before the slash of the final `/*`; -1 for an entry that does not end with `/*`. */
export function wildcardDepth(entry: string): number {
  return entry.endsWith('/*') ? entry.split('/').length - 2 : -1;
}

/** Whether `wider` matches every path that `entry` matches. */
export function isPathWithin(entry: string, wider: string): boolean {
  if (wider === '*' || wider === entry) return true;
  return wider.endsWith('/*') && entry.startsWith(wider.slice(0, -1)) && entry.length >= wider.length;
}
