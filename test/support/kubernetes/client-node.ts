import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';

import { repository } from '../../architecture/repository.ts';
import { kubeconfigOf } from '../server/kubeconfig.ts';
import { startGadgetServer, type KubernetesObject } from './gadgets.ts';

/**
 * The parts of `@kubernetes/client-node` 1.4.0 that the tests call. `test/tools` pins the package with a lock file of
 * its own. A test loads it by path, and its declarations are missing when the tests are compiled.
 */
export type ClientNode = {
  readonly KubeConfig: new () => KubeConfig;
  readonly KubernetesObjectApi: { makeApiClient(config: KubeConfig): ObjectApi };
  readonly CustomObjectsApi: ApiClass<CustomObjectsApi>;
  readonly AuthorizationV1Api: ApiClass<AuthorizationApi>;
  readonly Watch: new (config: KubeConfig) => Watch;
  readonly makeInformer: (
    config: KubeConfig,
    path: string,
    list: () => Promise<KubernetesList>,
    labelSelector?: string,
  ) => Informer;
  readonly PatchStrategy: { readonly MergePatch: string; readonly ServerSideApply: string };
  readonly setHeaderOptions: (name: string, value: string) => CallOptions;
};

declare const api: unique symbol;
declare const options: unique symbol;
/** The library's argument `_options`; only the library creates such a value. */
export type CallOptions = { readonly [options]: true };
type ApiClass<T> = { readonly [api]: T };

export type KubeConfig = {
  loadFromString(text: string): void;
  makeApiClient<T>(kind: ApiClass<T>): T;
  getCurrentCluster(): { readonly server: string; readonly caData?: string };
};

export type KubernetesList = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly KubernetesObject[];
};

export type ObjectApi = {
  create(object: KubernetesObject): Promise<KubernetesObject>;
  read(object: KubernetesObject): Promise<KubernetesObject>;
  replace(object: KubernetesObject): Promise<KubernetesObject>;
  patch(
    object: KubernetesObject,
    pretty?: undefined,
    dryRun?: undefined,
    fieldManager?: string,
    force?: boolean,
    strategy?: string,
  ): Promise<KubernetesObject>;
  delete(object: KubernetesObject): Promise<KubernetesObject>;
  list(
    ...args: readonly [apiVersion: string, kind: string, ...rest: readonly (string | undefined)[]]
  ): Promise<KubernetesList & { readonly hasNext?: boolean }>;
};

type Collection = { readonly group: string; readonly version: string; readonly plural: string };
type Item = Collection & { readonly name: string };
type Listing = Collection & {
  readonly limit?: number;
  readonly _continue?: string;
  readonly labelSelector?: string;
  readonly resourceVersion?: string;
};

export type CustomObjectsApi = {
  createClusterCustomObject(call: Collection & { readonly body: KubernetesObject }): Promise<KubernetesObject>;
  getClusterCustomObject(call: Item): Promise<KubernetesObject>;
  getClusterCustomObjectStatus(call: Item): Promise<KubernetesObject>;
  listClusterCustomObject(call: Listing): Promise<KubernetesList & { readonly total?: number }>;
  replaceClusterCustomObject(call: Item & { readonly body: KubernetesObject }): Promise<KubernetesObject>;
  replaceClusterCustomObjectStatus(call: Item & { readonly body: KubernetesObject }): Promise<KubernetesObject>;
  patchClusterCustomObject(call: Item & { readonly body: unknown }, opts?: CallOptions): Promise<KubernetesObject>;
  patchClusterCustomObjectStatus(
    call: Item & { readonly body: unknown },
    opts?: CallOptions,
  ): Promise<KubernetesObject>;
  deleteClusterCustomObject(call: Item): Promise<KubernetesObject>;
  deleteCollectionClusterCustomObject(call: Listing): Promise<KubernetesList>;
};

export type AuthorizationApi = {
  createSelfSubjectAccessReview(call: {
    readonly body: { readonly spec: unknown };
  }): Promise<{ readonly status: { readonly allowed: boolean; readonly reason?: string } }>;
  createSelfSubjectRulesReview(call: { readonly body: { readonly spec: unknown } }): Promise<{
    readonly status: { readonly resourceRules: readonly unknown[]; readonly incomplete: boolean };
  }>;
};

export type Watch = {
  watch(
    path: string,
    query: Readonly<Record<string, string>>,
    event: (type: string, object: KubernetesObject) => void,
    done: (error: unknown) => void,
  ): Promise<AbortController>;
};

export type Informer = {
  on(what: 'add' | 'update' | 'delete', handler: (object: KubernetesObject) => void): void;
  on(what: 'error' | 'connect', handler: (error: unknown) => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
  get(name: string): KubernetesObject | undefined;
  list(): readonly KubernetesObject[];
  latestResourceVersion(): string;
};

export type ApiException = Error & { readonly code: number; readonly body: string };

const entry = join(...[repository, 'test', 'tools', 'node_modules', '@kubernetes', 'client-node', 'dist', 'index.js']);

export const clientNode = (await import(pathToFileURL(entry).href)) as ClientNode;

/** Starts a server over TLS, and loads the library with the file that `kubeconfig` writes. */
export async function givenClientNode(t: Test) {
  const server = await startGadgetServer(t, { TLS: 'auto' });
  t.teardown(async () => server.remove());
  const config = configOf(await kubeconfigOf(server));
  return {
    server,
    config,
    objects: clientNode.KubernetesObjectApi.makeApiClient(config),
    custom: config.makeApiClient(clientNode.CustomObjectsApi),
  };
}

export function configOf(kubeconfig: string): KubeConfig {
  const config = new clientNode.KubeConfig();
  config.loadFromString(kubeconfig);
  return config;
}

/** Returns the status and the reason of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<readonly [code: number, reason: string]> {
  try {
    await call;
  } catch (error) {
    const { code, body } = error as ApiException;
    return [code, (JSON.parse(body) as { readonly reason: string }).reason];
  }
  throw new Error('the call was not refused');
}
