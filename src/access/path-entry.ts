/**
 * Entries of `nonResourceURLs`: a path, `<p>/*` for all beneath p, or `*` for every path. A `*` elsewhere is only itself.
 * As with resources an entry matches when it is one of the texts the request goes by.
 */

/**
 * What a path goes by. `depthMax`: how many levels the deepest entry ending in a wildcard has, so that a long path costs no
 * more than the rules it is compared with. A GET of discovery goes by its root as well: who may read the root may read on.
 */
export function pathTexts(request: { readonly verb: string; readonly path: string; readonly segments: readonly string[] }, depthMax: number): readonly string[] {
  const { verb, path, segments } = request;
  const found = [path, '*'];
  let depth = 0;
  for (let slash = path.indexOf('/'); slash !== -1 && slash < path.length - 1 && depth <= depthMax; slash = path.indexOf('/', slash + 1)) {
    found.push(`${path.slice(0, slash)}/*`);
    depth += 1;
  }
  if (verb === 'get' && isDiscovery(segments)) found.push(`/${segments[0] ?? ''}`);
  return found;
}

/** `/api/<v>`, `/apis/<g>`, `/apis/<g>/<v>`. */
function isDiscovery(segments: readonly string[]): boolean {
  const [root] = segments;
  return (root === 'api' && segments.length === 2) || (root === 'apis' && (segments.length === 2 || segments.length === 3));
}

/** Slashes before the one of the wildcard; -1 for an entry that is a path, or every path. */
export function wildcardDepth(entry: string): number {
  return entry.endsWith('/*') ? entry.split('/').length - 2 : -1;
}

/** Every path that `entry` matches is matched by `wider`, too. */
export function isPathWithin(entry: string, wider: string): boolean {
  if (wider === '*' || wider === entry) return true;
  return wider.endsWith('/*') && entry.startsWith(wider.slice(0, -1)) && entry.length >= wider.length;
}
