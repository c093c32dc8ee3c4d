/**
 * The client for programs in Node (`ledgerplane/client/node`): `ledgerplane/client` with custom certificate
 * authorities, connections from a kubeconfig, and reconcilers outside of the server.
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
  /**
   * The only authorities that may issue the server's certificate, as PEM. By default, Node's authorities are trusted.
   */
  readonly ca?: string | undefined;
  /** The name in the server's certificate, if it differs from the URL's host name. */
  readonly serverName?: string | undefined;
};

/** Like `connect` of `ledgerplane/client`, with options for TLS. */
export function connect({ ca, serverName, ...options }: NodeConnectOptions): RemoteClient {
  if (ca === undefined && serverName === undefined) return connectByFetch(options);
  if (options.fetch !== undefined) throw new TypeError('connect accepts either fetch, or ca and serverName, not both');
  if (!/^https:/iu.test(String(options.url)))
    throw new TypeError('ca and serverName have no effect without an https: url');
  return connectByFetch({ ...options, fetch: httpsFetch({ ca, serverName }) });
}

/** Connects like kubectl, with the server, certificate authority and credentials of a kubeconfig. */
export function connectKubeconfig(
  options: KubeconfigOptions & Omit<ConnectOptions, 'url' | 'token' | 'session' | 'fetch'> = {},
): RemoteClient {
  const { path, context, ...rest } = options;
  const { url, ca, serverName, token } = readKubeconfig({ path, context }, options.clock ?? clientClock);
  return connect({ ...rest, url, ca, serverName, token });
}
