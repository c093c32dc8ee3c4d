import type { RouteRequest } from '../../src/plugin/api/plugin.ts';
import type { Post } from './post.ts';

/** Returns the merge patch that publishes a post. A published post keeps its publication time. */
export function publish({ spec }: Post, { time }: Pick<RouteRequest, 'time'>): object {
  const publishTime = spec.publish === true ? (spec.publishTime ?? time) : time;
  return { spec: { publish: true, publishTime, submitted: null } };
}

export function unpublish(): object {
  return { spec: { publish: false, publishTime: null } };
}
