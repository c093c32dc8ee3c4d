import type { TypeRegistry } from '../../registry/type-registry.ts';

/** Calls the listeners with the name of a plugin when the conversion of an object first fails, once for each type. */
export function conversionFaults(registry: Pick<TypeRegistry, 'subscribe' | 'all'>): {
  subscribe(listener: (plugin: string) => void): () => void;
} {
  return {
    subscribe: (listener) => {
      const follow = ({ type: { plugin, versions } }: ReturnType<TypeRegistry['all']>[number]): void => {
        versions?.faults.subscribe(() => {
          listener(plugin);
        });
      };
      registry.all().forEach(follow);
      return registry.subscribe((registration, change) => {
        if (change === 'registered') follow(registration);
      });
    },
  };
}
