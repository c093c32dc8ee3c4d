import { isList, isObject } from '../../../../base/guards.ts';
import { ClientError, type ClientPreconditions } from '../client.ts';
import type { ObjectMetadata } from '../object.ts';
import type { RouteResponse } from '../route.ts';
import { objectResponse } from './entity-tag.ts';
import { listBody } from './list-body.ts';
import { readOwn, untyped, writeOwn, type AnyObject, type OwnCall } from './own-calls.ts';
import { ownMetadata, ownSpec, pick, type Members } from './own-members.ts';
import { badRequest, escapeSelectorValue, readPageParameters, valuesOf } from './parameters.ts';

/** A call of a route of `ownObjects`, with the options of the controller. */
export type Own<T> = OwnCall<T> & {
  readonly path: string;
  /** The members of `spec` that requests cannot change. */
  readonly protectedMembers: readonly string[];
  readonly check: (spec: Members, stored: T | undefined) => void;
  readonly summary: ((object: T) => object) | undefined;
};

export async function listOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  const { request, type, ownerMember, summary } = own;
  const { query, user, pluginClient } = request;
  const parameters = readPageParameters(query);
  const isSummary = query['summary'] === 'true';
  if (isSummary && summary === undefined) throw badRequest('the parameter summary is not supported');
  const list = await pluginClient.list(type, {
    labelSelector: valuesOf(query['labelSelector']),
    fieldSelector: [`spec.${ownerMember}=${escapeSelectorValue(user.name)}`, ...valuesOf(query['fieldSelector'])],
    sort: valuesOf(query['sort']),
    ...parameters,
  });
  const { items } = list;
  return {
    body: listBody(type, { ...list, items: isSummary ? items.map((each) => summary?.(each)) : items }, parameters),
  };
}

export async function createOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  const { request, type, ownerMember, protectedMembers } = own;
  const given = bodyMembers(request.body);
  checkSpec(own, given, undefined);
  const made = await request.pluginClient.create(untyped(type), {
    ...given,
    ...ownMetadata(given, {}),
    spec: ownSpec(given['spec'], protectedMembers, { [ownerMember]: request.user.name }),
  });
  const { headers, body } = objectResponse(made);
  return {
    status: 201,
    headers: { ...headers, location: `${own.path}/${made.metadata.name}` },
    body,
  };
}

export async function getOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  return objectResponse(await readOwn(own));
}

export async function updateOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  const { request, type, protectedMembers } = own;
  const given = bodyMembers(request.body);
  const { metadata } = given;
  // `pluginClient.update` replaces the object that the body names, so the name in the body must be checked.
  if (!isObject(metadata) || metadata['name'] !== request.params['name'])
    throw badRequest('metadata.name in the body must be equal to the name in the path');
  return writeOwn(own, async (stored, preconditions) => {
    checkSpec(own, given, stored);
    const { finalizers, ownerReferences } = stored.metadata;
    const replacement = {
      ...given,
      ...ownMetadata(given, { finalizers, ownerReferences }),
      spec: ownSpec(given['spec'], protectedMembers, pick(stored.spec, protectedMembers)),
    };
    return request.pluginClient.update(untyped(type), replacement, preconditions);
  });
}

export async function patchOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  const { request, type, protectedMembers } = own;
  const given = bodyMembers(request.body);
  return writeOwn(own, async (stored, preconditions) => {
    checkSpec(own, given, stored);
    const spec = 'spec' in given ? { spec: ownSpec(given['spec'], protectedMembers, {}) } : {};
    const patch = { ...given, ...ownMetadata(given, {}), ...spec };
    return request.pluginClient.patch(untyped(type), stored.metadata.name, patch, preconditions);
  });
}

export async function deleteOwn<T extends AnyObject>(own: Own<T>): Promise<RouteResponse> {
  const { request, type } = own;
  const options = request.body === undefined ? {} : bodyMembers(request.body);
  if (isList(options['dryRun']) && options['dryRun'].length > 0) throw badRequest('dryRun is not supported');
  const expected = bodyMembers(options['preconditions'] ?? {});
  return writeOwn(own, async ({ metadata }, preconditions: ClientPreconditions) => {
    checkPreconditions(expected, metadata);
    return request.pluginClient.delete(untyped(type), metadata.name, preconditions);
  });
}

function checkSpec<T>({ check }: Own<T>, { spec }: Members, stored: T | undefined): void {
  if (isObject(spec)) check(spec, stored);
}

function checkPreconditions({ uid, resourceVersion }: Members, metadata: ObjectMetadata): void {
  const isExpected =
    (uid ?? metadata.uid) === metadata.uid &&
    (resourceVersion ?? metadata.resourceVersion) === metadata.resourceVersion;
  if (isExpected) return;
  const detail = 'the preconditions are not met: the object has been modified';
  throw new ClientError(detail, { reason: 'Conflict', status: 409 });
}

function bodyMembers(body: unknown): Members {
  if (!isObject(body)) throw badRequest('the body must be a JSON object');
  return body;
}
