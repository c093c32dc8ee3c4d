import Router from '@koa/router';

/** The result of a look-up. `allow` lists the methods of the path's routes; empty if the path has no route. */
export type Found<H> =
  | { readonly kind: 'found'; readonly route: H; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'not-served'; readonly allow: readonly string[] };

export type FoundOf<H> = Extract<Found<H>, { kind: 'found' }>;

export const nothingHere = { kind: 'not-served', allow: [] } as const;

type Layer = ReturnType<Router['register']>;

export type Route = {
  readonly method: string;
  readonly pattern: string;
};

export type Entry<H> = Route & { readonly route: H };

/**
 * Routes by pattern, where `{name}` matches one segment. `find` matches the decoded segments of a path. The
 * authorization uses the same segments.
 */
export class RouteTable<H> {
  readonly #router = new Router({ sensitive: true, strict: true });
  /** The layers of the router, in order of addition. The first match is used. */
  readonly #routes = new Map<Layer, Entry<H>>();
  /** The segments of the patterns, by the number of segments. A parameter is stored as undefined. */
  readonly #shapes = new Map<number, (readonly (string | undefined)[])[]>();

  add(method: string, pattern: string, route: H): void {
    const problem = patternProblem(pattern);
    if (problem !== undefined) throw new RangeError(`${method} ${pattern}: ${problem}`);
    const layer = this.#router.register(pattern.replaceAll(/\{(\w+)\}/gu, ':$1'), [method], () => undefined);
    this.#routes.set(layer, { method, pattern, route });
    const shape = pattern
      .slice(1)
      .split('/')
      .map((segment) => (segment.startsWith('{') ? undefined : segment));
    const alike = this.#shapes.get(shape.length);
    if (alike === undefined) this.#shapes.set(shape.length, [shape]);
    else alike.push(shape);
  }

  /** Returns all routes, in order of addition. */
  all(): readonly Entry<H>[] {
    return [...this.#routes.values()];
  }

  /** Returns whether the path has a route, for any method. */
  covers(segments: readonly string[]): boolean {
    const alike = this.#shapes.get(segments.length);
    return (
      alike?.some((shape) => shape.every((segment, index) => segment === undefined || segment === segments[index])) ===
      true
    );
  }

  find(method: string, segments: readonly string[]): Found<H> {
    const path = `/${segments.map(encodeURIComponent).join('/')}`;
    const { path: layers } = this.#router.match(path, method);
    for (const layer of layers) {
      const route = layer.methods.includes(method) ? this.#routes.get(layer)?.route : undefined;
      if (route !== undefined)
        return {
          kind: 'found',
          route,
          params: layer.params(path, layer.captures(path)),
        };
    }
    return { kind: 'not-served', allow: [...new Set(layers.flatMap((layer) => layer.methods))].sort() };
  }
}

/**
 * Returns the problem of a pattern; undefined if the pattern is valid. No part of a valid pattern has a special meaning
 * for the router.
 */
export function patternProblem(pattern: string): string | undefined {
  const names = new Set<string>();
  if (!pattern.startsWith('/')) return 'a path must start with "/"';
  for (const segment of pattern.slice(1).split('/')) {
    const name = /^\{([A-Za-z_]\w*)\}$/u.exec(segment)?.[1];
    if (name === undefined && !/^[A-Za-z0-9._~-]+$/u.test(segment))
      return `${JSON.stringify(segment)} is neither a plain segment nor a parameter like {name}`;
    if (name !== undefined && names.has(name)) return `the parameter {${name}} appears twice`;
    if (name !== undefined) names.add(name);
  }
  return undefined;
}

/** Compares two paths by specificity, from the left. A plain segment comes before a parameter. */
export function bySpecificity(left: { readonly path: string }, right: { readonly path: string }): number {
  const [ours, theirs] = [left.path.split('/'), right.path.split('/')];
  for (const [index, segment] of ours.entries()) {
    const difference = Number(segment.startsWith('{')) - Number(theirs[index]?.startsWith('{') === true);
    if (difference !== 0) return difference;
  }
  return 0;
}
