import type { ObjectMetadata, RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import { previewDeletions } from '../deletion/deletion-preview.ts';
import type { Related, RelatedObject } from './related-object.ts';

const bareMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const shownMax = 50;

/** Reads the owners of an object. */
export async function readOwners(
  client: RemoteClient,
  { type, name }: { readonly type: ServedType; readonly name: string },
  { types, signal }: { readonly types: readonly ServedType[]; readonly signal: AbortSignal },
): Promise<Related> {
  const object = await client.request<{ readonly metadata: ObjectMetadata }>(apiPath(type, name), {
    accept: bareMetadata,
    signal,
  });
  const owners = object?.metadata.ownerReferences ?? [];
  const items = owners.slice(0, shownMax).map((owner): RelatedObject => {
    const group = owner.apiVersion.includes('/') ? (owner.apiVersion.split('/')[0] ?? '') : '';
    const found = types.find((each) => each.kind === owner.kind && each.group === group);
    return {
      key: `${group}/${owner.kind}/${owner.name}/${owner.uid}`,
      kind: owner.kind,
      name: owner.name,
      type: found,
    };
  });
  return { items, hidden: owners.length - items.length, isMore: false };
}

/** The user may not read the dependents. The server shows them only to users that may delete the object. */
export class HiddenDependentsError extends Error {}

/** Reads the dependents of an object, and the objects that name this object in a declared reference. */
export async function readDependents(
  client: RemoteClient,
  { type, name }: { readonly type: ServedType; readonly name: string },
  context: { readonly types: readonly ServedType[]; readonly domain: string; readonly signal: AbortSignal },
): Promise<Related> {
  const { types, domain, signal } = context;
  const [preview] = await previewDeletions(client, { domain, type, names: [name], propagation: undefined, signal });
  const { dependents, references = [], refusal } = preview ?? {};
  if (dependents === undefined && refusal !== undefined) throw new HiddenDependentsError(refusal.detail);
  const related = (key: string, other: string, field?: string): RelatedObject => {
    const found = types.find(({ plural, group }) => (group === '' ? plural : `${plural}.${group}`) === key);
    return { key: `${field ?? ''} ${key}/${other}`, kind: found?.kind ?? key, name: other, type: found, field };
  };
  const concerned = [...(dependents === undefined ? [] : [dependents]), ...references];
  return {
    items: [
      ...(dependents?.items ?? []).map((each) => related(each.type, each.name)),
      ...references.flatMap(({ type: key, field, items }) => items.map((each) => related(key, each.name, field))),
    ],
    hidden: concerned.reduce((sum, { hidden }) => sum + hidden, 0),
    isMore: concerned.some(({ isMore }) => isMore),
  };
}
