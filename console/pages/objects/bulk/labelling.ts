import type { ObjectMetadata, RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import type { Chosen } from './bulk-run.ts';

/** The labels to write: a value, or null for the removal of the label. */
export type LabelPatch = Readonly<Record<string, string | null>>;

/** The effect of a patch on the labels of one object at a position. */
export type PlannedLabels = {
  readonly resourceVersion: string;
  /** The changed labels. An undefined value means that the label is absent. */
  readonly changes: readonly {
    readonly key: string;
    readonly before: string | undefined;
    readonly after: string | undefined;
  }[];
};

type Bare = { readonly metadata: ObjectMetadata & { readonly labels?: Readonly<Record<string, string>> } };

const bareMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Requests the result of a patch by a dry run. */
export async function planLabels(
  client: RemoteClient,
  type: ServedType,
  { object, patch, signal }: { readonly object: Chosen; readonly patch: LabelPatch; readonly signal: AbortSignal },
): Promise<PlannedLabels> {
  const { name, uid } = object;
  const path = apiPath(type, name);
  const body = { metadata: { uid, labels: patch } };
  const query = { dryRun: 'All' };
  const planned = await client.request<Bare>(path, { method: 'PATCH', query, body, accept: bareMetadata, signal });
  const { resourceVersion = '', labels: after = {} } = planned?.metadata ?? {};
  const isCurrent = resourceVersion === object.resourceVersion;
  const stored = isCurrent ? undefined : await client.request<Bare>(path, { accept: bareMetadata, signal });
  const before = stored === undefined ? object.labels : (stored.metadata.labels ?? {});
  const changes = Object.keys(patch)
    .map((key) => ({ key, before: before[key], after: after[key] }))
    .filter((change) => change.before !== change.after);
  return { resourceVersion, changes };
}

/** Writes exactly the planned labels. The server refuses the write if the object has changed since the plan. */
export async function writeLabels(
  client: RemoteClient,
  type: ServedType,
  {
    object: { name, uid },
    patch,
    resourceVersion,
    signal,
  }: {
    readonly object: Chosen;
    readonly patch: LabelPatch;
    readonly resourceVersion: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const body = { metadata: { uid, resourceVersion, labels: patch } };
  await client.request(apiPath(type, name), { method: 'PATCH', body, accept: bareMetadata, signal });
}
