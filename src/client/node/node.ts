/**
 * The client for programs in Node (`ledgerplane/client/node`): that of `ledgerplane/client`, which also connects with
 * an authority of its own or by a kubeconfig, and runs reconcilers outside of the server.
 */
import { clientClock } from '../../base/clock.ts';
import { connect as connectByFetch, type ConnectOptions, type RemoteClient } from '../client.ts';
import { httpsFetch } from './https-fetch.ts';
import { readKubeconfig, type KubeconfigOptions } from './kubeconfig.ts';

export * from '../client.ts';
export { defineReconciler, defineType } from '../../plugin/api/plugin.ts';
export type {
  PluginLogger,
  ReconcileOutcome,
  ReconcileRequest,
  ReconcilerDeclaration,
} from '../../plugin/api/plugin.ts';
export { runReconciler, type RunningReconciler, type RunOptions } from './run-reconciler.ts';
export type { KubeconfigOptions } from './kubeconfig.ts';

export type NodeConnectOptions = ConnectOptions & {
  /** The only authorities that may vouch for the server, as PEM: those that Node trusts by default. */
  readonly ca?: string | undefined;
  /** The name in the server's certificate, if it is not the URL's. */
  readonly serverName?: string | undefined;
};

/** As `connect` of `ledgerplane/client`, with an authority. */
export function connect({ ca, serverName, ...options }: NodeConnectOptions): RemoteClient {
  if (ca === undefined && serverName === undefined) return connectByFetch(options);
  if (options.fetch !== undefined) throw new TypeError('connect needs a fetch, or a ca and serverName, not both');
  if (!/^https:/iu.test(String(options.url)))
    throw new TypeError('ca and serverName have no effect without an https: url');
  return connectByFetch({ ...options, fetch: httpsFetch({ ca, serverName }) });
}

/** Connects as kubectl would: the server, its authority and the credentials are those of a kubeconfig. */
export function connectKubeconfig(
  options: KubeconfigOptions & Omit<ConnectOptions, 'url' | 'token' | 'session' | 'fetch'> = {},
): RemoteClient {
  const { path, context, ...rest } = options;
  const { url, ca, serverName, token } = readKubeconfig({ path, context }, options.clock ?? clientClock);
  return connect({ ...rest, url, ca, serverName, token });
}
