import { defineFeature } from '../../features/feature.ts';

/** The pages of plugins with a front end that is not ready. The routes of a ready front end have precedence. */
export default defineFeature({
  routes: ['/apps', '/uc'].map((root) => ({
    path: `${root}/:plugin/:rest(.*)*`,
    component: async () => import('./app-page.vue'),
    meta: { title: 'apps.title' },
  })),
});
