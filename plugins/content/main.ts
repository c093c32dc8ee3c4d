import { definePlugin } from '../../src/plugin/plugin.ts';
import { ownPosts } from './own-posts.ts';
import { post } from './post.ts';
import { publicPosts } from './public-posts.ts';

export default definePlugin(({ domain }) => ({
  types: [post(domain)],
  controllers: [publicPosts(domain), ownPosts(domain)],
}));
