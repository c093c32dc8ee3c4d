import { ScrollText } from '@lucide/vue';

import { defineFeature } from '../../features/feature.ts';

const permissions = ['plugin:platform:audit:view'];

export default defineFeature({
  routes: [
    {
      path: '/audit',
      component: async () => import('./stream/audit-page.vue'),
      meta: { title: 'audit.title', permissions, menu: { icon: ScrollText, order: 30 } },
    },
    {
      path: '/audit/events/:position(\\d+)',
      component: async () => import('./stream/event-page.vue'),
      meta: { title: 'audit.event', permissions },
    },
    {
      path: '/audit/checkpoints',
      component: async () => import('./checkpoints/checkpoints-page.vue'),
      meta: { title: 'audit.checkpoints.title', permissions },
    },
    {
      path: '/audit/export',
      component: async () => import('./stream/export-page.vue'),
      meta: { title: 'audit.export.title', permissions },
    },
    {
      path: '/history/:group/:version/:plural/:name',
      component: async () => import('./history/history-page.vue'),
      meta: { title: 'audit.history.title' },
    },
    {
      path: '/past/:group/:version/:plural',
      component: async () => import('./past/past-page.vue'),
      meta: { title: 'audit.past.title' },
    },
  ],
  objectPages: [
    {
      type: { group: 'audit.${domain}', plural: 'events' },
      list: async () => import('./stream/events-redirect.vue'),
      overview: async () => import('./stream/events-redirect.vue'),
    },
  ],
  objectTabs: [
    {
      name: 'history',
      title: 'audit.history.title',
      order: 30,
      appliesTo: ({ subresources }) => subresources.includes('history'),
      component: async () => import('./history/history-tab.vue'),
    },
  ],
  coveredTypes: (domain) => [{ group: `audit.${domain}`, plural: 'events' }],
});
