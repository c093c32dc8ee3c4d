import { definePlugin } from '../../src/plugin/api/plugin.ts';
import { comment } from './comment.ts';
import { editing } from './editing.ts';
import { keepPosts } from './keep-posts.ts';
import { moderation } from './moderation.ts';
import { ownComments } from './own-comments.ts';
import { ownPosts } from './own-posts.ts';
import { post } from './post.ts';
import { publicComments } from './public-comments.ts';
import { publicPosts } from './public-posts.ts';
import { refusingUnserved } from './unserved-parameters.ts';

export default definePlugin(({ domain }) => ({
  types: [post(domain), comment(domain)],
  controllers: [
    publicPosts(domain),
    publicComments(domain),
    ownPosts(domain),
    ownComments(domain),
    editing(domain),
    moderation(domain),
  ].map(refusingUnserved),
  reconcilers: [keepPosts(domain)],
}));
