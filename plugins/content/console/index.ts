import { MessageSquare, MessagesSquare, NotebookPen, PenLine } from '@lucide/vue';
import { defineConsole } from 'ledgerplane/console-kit';

import en from './messages/en.json';
import zh from './messages/zh.json';

const posts = ['plugin:content:posts:view', 'plugin:content:posts:manage'];
const comments = ['plugin:content:comments:moderate', 'plugin:content:comments:view', 'plugin:content:comments:manage'];
const own = ['plugin:content:own-posts:edit'];

export default defineConsole({
  routes: [
    {
      path: '/posts',
      component: async () => import('./posts/posts-page.vue'),
      meta: { title: 'posts.title.all', permissions: posts, menu: { icon: NotebookPen, order: 10 } },
    },
    {
      path: '/new',
      component: async () => import('./editor/edit-page.vue'),
      meta: { title: 'posts.new', permissions: ['plugin:content:posts:manage'] },
    },
    {
      path: '/posts/:name',
      component: async () => import('./editor/edit-page.vue'),
      props: true,
      meta: { title: 'posts.title.all', permissions: posts },
    },
    {
      path: '/comments',
      component: async () => import('./comments/comments-page.vue'),
      meta: { title: 'comments.title', permissions: comments, menu: { icon: MessagesSquare, order: 20 } },
    },
    {
      path: '/',
      area: 'own',
      component: async () => import('./posts/own-posts-page.vue'),
      meta: { title: 'posts.title.own', permissions: own, menu: { icon: PenLine, order: 30 } },
    },
    {
      path: '/new',
      area: 'own',
      component: async () => import('./editor/own-edit-page.vue'),
      meta: { title: 'posts.new', permissions: own },
    },
    {
      path: '/posts/:name',
      area: 'own',
      component: async () => import('./editor/own-edit-page.vue'),
      props: true,
      meta: { title: 'posts.title.own', permissions: own },
    },
    {
      path: '/comments',
      area: 'own',
      component: async () => import('./comments/own-comments-page.vue'),
      meta: {
        title: 'ownComments.title',
        permissions: ['plugin:content:own-comments:edit'],
        menu: { icon: MessageSquare, order: 40 },
      },
    },
    {
      path: '/read/:name',
      area: 'own',
      component: async () => import('./posts/read-page.vue'),
      props: true,
      meta: { title: 'reading.title', permissions: ['plugin:content:public:view'] },
    },
  ],
  coveredTypes: (domain) => ['posts', 'comments'].map((plural) => ({ group: `content.${domain}`, plural })),
  homeCards: [
    {
      name: 'waiting',
      order: 9,
      permissions: [...posts, ...comments, ...own],
      component: async () => import('./home/content-card.vue'),
    },
  ],
  messages: { en, zh },
});
