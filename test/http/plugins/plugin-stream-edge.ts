import type { Test } from 'tap';
import { WebSocket } from 'ws';

import type { RouteHandler, SocketHandler } from '../../../src/plugin/api/plugin.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { startEdge } from '../edge-server.ts';

/** Where the plugin `feeds` serves an event stream and a WebSocket. */
export const base = '/apis/api.example.com/v1';
export const eventsPath = `${base}/feeds/a/events`;
export const socketPath = `${base}/feeds/a/socket`;

export function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => undefined;
  return {
    promise: new Promise<T>((resolve) => {
      settle = resolve;
    }),
    resolve: (value) => {
      settle(value);
    },
  };
}

/** An edge with the plugin `feeds`, which has an event stream, a WebSocket, or both. */
export async function edgeOf(
  t: Test,
  { events, socket }: { readonly events?: RouteHandler; readonly socket?: SocketHandler },
) {
  const clock = new FakeClock();
  const edge = await startEdge({ clock });
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount('feeds', {
    routes: events === undefined ? [] : [{ method: 'GET', path: `${base}/feeds/{name}/events`, handler: events }],
    sockets: socket === undefined ? [] : [{ path: `${base}/feeds/{name}/socket`, handler: socket }],
  });
  const open = (headers: Readonly<Record<string, string>> = {}): WebSocket =>
    new WebSocket(`${edge.url.replace('http', 'ws')}${socketPath}`, {
      headers: { authorization: 'admin', ...headers },
    });
  return { edge, clock, open };
}
