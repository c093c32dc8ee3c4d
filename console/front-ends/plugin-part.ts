import type { Console, LazyComponent } from 'ledgerplane/console-kit';
import { defineAsyncComponent, defineComponent, h, provide } from 'vue';

import UiLoading from '../ui/feedback/ui-loading.vue';
import { pluginKey } from './plugin-context.ts';
import PluginFrame from './plugin-frame.vue';

/** The time in milliseconds within which a component must load. */
export const loadMsMax = 10_000;

/**
 * Returns a component of a plugin with its context. If the component fails, the failure with the name of the plugin
 * replaces the component.
 */
export function pluginPart(plugin: Console['plugin'], loader: LazyComponent, kind: 'page' | 'part'): LazyComponent {
  const content = defineAsyncComponent({
    loader: async () => (await loader()).default,
    loadingComponent: UiLoading,
    timeout: loadMsMax,
  });
  const part = defineComponent({
    name: 'PluginPart',
    inheritAttrs: false,
    setup: (_properties, { attrs }) => {
      provide(pluginKey, plugin);
      return () => h(PluginFrame, { plugin: plugin.name, isPage: kind === 'page' }, () => h(content, attrs));
    },
  });
  return async () => Promise.resolve({ default: part });
}
