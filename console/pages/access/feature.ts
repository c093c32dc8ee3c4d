import { ShieldCheck } from '@lucide/vue';

import { defineFeature } from '../../features/feature.ts';

const permissions = ['plugin:platform:users:view', 'plugin:platform:roles:view'];
const ofRoles = ['plugin:platform:roles:view'];

export default defineFeature({
  routes: [
    {
      path: '/access',
      name: 'access',
      component: async () => import('./access-page.vue'),
      meta: { title: 'access.title', permissions, menu: { icon: ShieldCheck, order: 20 } },
    },
    {
      path: '/access/:section(roles|check)',
      name: 'access-section',
      component: async () => import('./access-page.vue'),
      meta: { title: 'access.title', permissions: ofRoles },
    },
    {
      path: '/access/users/:name',
      name: 'access-user',
      component: async () => import('./users/user-page.vue'),
      meta: { title: 'access.user', permissions },
    },
    {
      path: '/access/new-role',
      name: 'access-new-role',
      component: async () => import('./roles/new-role-page.vue'),
      meta: { title: 'access.roles.create', permissions: ofRoles },
    },
    {
      path: '/access/roles/:name/:mode(edit)?',
      name: 'access-role',
      component: async () => import('./roles/role-page.vue'),
      meta: { title: 'access.role', permissions: ofRoles },
    },
  ],
  coveredTypes: () => ['users', 'roles', 'rolebindings'].map((plural) => ({ group: '', plural })),
});
