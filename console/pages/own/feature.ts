import { defineFeature } from '../../features/feature.ts';

/** The start page for users that are not administrators: the pages of plugins for the user's own data. */
export default defineFeature({
  routes: [{ path: '/uc', component: async () => import('./own-page.vue'), meta: { title: 'own.title' } }],
});
