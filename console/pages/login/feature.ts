import { defineFeature } from '../../features/feature.ts';

export default defineFeature({
  routes: [
    {
      path: '/login',
      name: 'login',
      component: async () => import('./login-page.vue'),
      meta: { title: 'login.title', isPublic: true },
    },
  ],
  logInMethods: [{ name: 'provider', order: 10, component: async () => import('./provider-method.vue') }],
});
