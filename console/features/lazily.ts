import { defineAsyncComponent, type Component } from 'vue';

import UiLoading from '../ui/feedback/ui-loading.vue';
import type { LazyComponent } from './feature.ts';

const known = new WeakMap<LazyComponent, Component>();

/**
 * Returns a component that loads another component when it is first shown. Returns the same component for the same
 * loader.
 */
export function lazily(loader: LazyComponent): Component {
  const present = known.get(loader);
  if (present !== undefined) return present;
  const component = defineAsyncComponent({
    loader: async () => (await loader()).default,
    loadingComponent: UiLoading,
  });
  known.set(loader, component);
  return component;
}
