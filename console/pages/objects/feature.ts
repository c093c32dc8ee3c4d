import { defineFeature } from '../../features/feature.ts';

const typeAddress = ':group/:version/:plural';
const loadTables = async () => import('./objects-page.vue');

export default defineFeature({
  routes: [
    {
      path: `/objects/${typeAddress}`,
      name: 'objects',
      component: loadTables,
      meta: { title: 'objects.title', preload: loadTables },
    },
    {
      path: `/create/${typeAddress}`,
      name: 'create',
      component: async () => import('./create-page.vue'),
      meta: { title: 'objects.create.title' },
    },
    {
      path: `/objects/${typeAddress}/:name/:tab?`,
      name: 'object',
      component: async () => import('./object-page.vue'),
      meta: { title: 'objects.object' },
    },
  ],
  objectTabs: [
    {
      name: 'overview',
      title: 'objects.tabs.overview',
      order: 0,
      component: async () => import('./object/overview-tab.vue'),
    },
    { name: 'edit', title: 'objects.tabs.edit', order: 10, component: async () => import('./object/edit-tab.vue') },
  ],
});
