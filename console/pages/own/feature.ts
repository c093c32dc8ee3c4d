import { defineFeature } from '../../features/feature.ts';

/** The start page of people who are no administrators: the pages of plugins for the user's own things. */
export default defineFeature({
  routes: [{ path: '/uc', component: async () => import('./own-page.vue'), meta: { title: 'own.title' } }],
});
