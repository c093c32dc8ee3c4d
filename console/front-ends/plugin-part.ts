import type { Console, LazyComponent } from 'ledgerplane/console-kit';
import { defineAsyncComponent, defineComponent, h, provide } from 'vue';
import { useI18n } from 'vue-i18n';

import ErrorBoundary from '../shell/error-boundary.vue';
import UiLoading from '../ui/feedback/ui-loading.vue';
import { pluginKey } from './plugin-context.ts';

/** A component that does not load within this time is shown as a failure. */
export const loadMsMax = 10_000;

/**
 * Returns a component of a plugin with its context. A failure of the component is shown in its place, and names the
 * plugin.
 */
export function pluginPart(plugin: Console['plugin'], loader: LazyComponent): LazyComponent {
  const content = defineAsyncComponent({
    loader: async () => (await loader()).default,
    loadingComponent: UiLoading,
    timeout: loadMsMax,
  });
  const part = defineComponent({
    name: 'PluginPart',
    inheritAttrs: false,
    setup: (_properties, { attrs }) => {
      const { t } = useI18n();
      provide(pluginKey, plugin);
      return () => h(ErrorBoundary, { title: t('apps.failed', { plugin: plugin.name }) }, () => h(content, attrs));
    },
  });
  return async () => Promise.resolve({ default: part });
}
