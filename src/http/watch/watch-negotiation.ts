import type { IncomingMessage } from 'node:http';

/**
 * Returns whether the request asks for a WebSocket or for server-sent events, which stay open after the request is
 * handled.
 */
export function outlives(req: IncomingMessage, isUpgrade: boolean): boolean {
  return isUpgrade || req.headers.accept?.includes('text/event-stream') === true;
}

/**
 * Returns whether the request is a watch: a WebSocket, server-sent events, or the parameter `watch` with any value
 * except `0` and `false`.
 */
export function asksForWatch(req: IncomingMessage, query: URLSearchParams | string, isUpgrade: boolean): boolean {
  if (typeof query === 'string') return false;
  if (outlives(req, isUpgrade)) return true;
  const watch = query.get('watch');
  return watch !== null && watch !== '0' && watch.toLowerCase() !== 'false';
}
