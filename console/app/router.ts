import { createRouter, createWebHistory, type RouteLocationRaw, type Router } from 'vue-router';

import { routes } from '../features/features.ts';
import type { Server } from '../server/server.ts';

/**
 * Creates the router. A page that is not public waits until the session is known, and redirects visitors to the page
 * Log in.
 */
export function createConsoleRouter({ session }: Server): Router {
  const router = createRouter({
    history: createWebHistory('/console/'),
    routes: [
      ...routes,
      {
        path: '/:missing(.*)*',
        component: async () => import('../shell/not-found-page.vue'),
        meta: { title: 'shell.notFound.title' },
      },
    ],
    scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
  });
  router.beforeEach(async (to): Promise<RouteLocationRaw | boolean> => {
    if (to.meta.isPublic !== true) await session.known();
    const isVisitor = session.status.value === 'visitor';
    if (isVisitor && to.meta.isPublic !== true) return { name: 'login', query: { to: to.fullPath } };
    return true;
  });
  return router;
}
