import { Blocks } from '@lucide/vue';

import { defineFeature } from '../../features/feature.ts';

const permissions = ['plugin:platform:plugins:view'];

export default defineFeature({
  routes: [
    {
      path: '/plugins',
      name: 'plugins',
      component: async () => import('./plugins-page.vue'),
      meta: { title: 'plugins.title', permissions, menu: { icon: Blocks, order: 40 } },
    },
    {
      path: '/plugins/:name/:tab?',
      name: 'plugin',
      component: async () => import('./plugin-page.vue'),
      meta: { title: 'plugins.title', permissions },
    },
  ],
  coveredTypes: (domain) => [{ group: `plugin.${domain}`, plural: 'plugins', createAt: '/plugins' }],
});
