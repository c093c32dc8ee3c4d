export type Dependent = {
  readonly name: string;
  readonly dependencies: readonly string[];
};

/**
 * Sorts plugins so that each plugin follows its dependencies. Plugins that depend directly or indirectly on a cycle are
 * last in `order`. `cyclic` maps each plugin that depends on a cycle to a path of dependencies that ends with the
 * cycle.
 */
export function startOrder(plugins: readonly Dependent[]): {
  readonly order: readonly string[];
  readonly cyclic: ReadonlyMap<string, readonly string[]>;
} {
  const present = new Set(plugins.map(({ name }) => name));
  const waiting = new Map(
    plugins.map(({ name, dependencies }) => [
      name,
      new Set(dependencies.filter((dependency) => present.has(dependency))),
    ]),
  );
  const order: string[] = [];
  for (let free = namesWithout(waiting); free.length > 0; free = namesWithout(waiting)) {
    for (const name of free) waiting.delete(name);
    for (const dependencies of waiting.values()) for (const name of free) dependencies.delete(name);
    order.push(...free);
  }
  return {
    order: [...order, ...waiting.keys()],
    cyclic: new Map([...waiting.keys()].map((name) => [name, cycleFrom(name, waiting)])),
  };
}

function namesWithout(waiting: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return [...waiting].filter(([, dependencies]) => dependencies.size === 0).map(([name]) => name);
}

/**
 * Follows dependencies from `name` until a plugin repeats. One must repeat, because each waiting plugin depends on
 * another waiting plugin.
 */
function cycleFrom(name: string, waiting: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const way: string[] = [];
  let next: string | undefined = name;
  while (next !== undefined && !way.includes(next)) {
    way.push(next);
    next = [...(waiting.get(next) ?? [])][0];
  }
  return next === undefined ? way : [...way, next];
}
