import { defineFeature } from '../../features/feature.ts';

export default defineFeature({
  routes: [
    {
      path: '/profile',
      name: 'profile',
      component: async () => import('./profile-page.vue'),
      meta: { title: 'profile.title' },
    },
  ],
  profileSections: [
    { name: 'account', order: 10, component: async () => import('./account-section.vue') },
    { name: 'roles', order: 15, component: async () => import('./roles-section.vue') },
    { name: 'password', order: 20, component: async () => import('./password-section.vue') },
    { name: 'sessions', order: 30, component: async () => import('./sessions-section.vue') },
    { name: 'tokens', order: 40, component: async () => import('./tokens-section.vue') },
  ],
  coveredTypes: () => [
    { group: '', plural: 'sessions' },
    // Only the profile shows the secret of a new token, so tokens are created there.
    { group: '', plural: 'personalaccesstokens', createAt: '/profile' },
  ],
});
