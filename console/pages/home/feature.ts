import { House } from '@lucide/vue';

import { defineFeature } from '../../features/feature.ts';

export default defineFeature({
  routes: [
    {
      path: '/',
      name: 'home',
      component: async () => import('./home-page.vue'),
      meta: { title: 'home.title', menu: { icon: House, order: 0 } },
    },
  ],
  homeCards: [
    { name: 'health', order: 5, component: async () => import('./health/health-card.vue') },
    { name: 'nodes', order: 7, component: async () => import('./health/nodes-card.vue') },
    { name: 'hour', order: 8, width: 'wide', component: async () => import('./hour/hour-card.vue') },
    { name: 'types', order: 10, width: 'wide', component: async () => import('./types-card.vue') },
    { name: 'changes', order: 20, width: 'wide', component: async () => import('./changes-card.vue') },
  ],
});
