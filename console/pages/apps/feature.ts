import { defineFeature } from '../../features/feature.ts';

/** The pages of plugins whose front end is not ready. The routes of a front end precede these. */
export default defineFeature({
  routes: ['/apps', '/uc'].map((root) => ({
    path: `${root}/:plugin/:rest(.*)*`,
    component: async () => import('./app-page.vue'),
    meta: { title: 'apps.title' },
  })),
});
