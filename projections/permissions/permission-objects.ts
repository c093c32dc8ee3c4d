import { isObject } from '../../src/base/guards.ts';
import type { SessionRecord, TokenRecord, UserRecord } from '../../src/read/permission-reader.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';

/**
 * Converts stored objects to the records that decisions use. No function throws for a malformed object, since events
 * are facts. A malformed part grants no right and admits no user.
 */

type Members = Readonly<Record<string, unknown>>;

/**
 * Decodes an object. Returns undefined if the object has no name or uid, or is marked for deletion and so grants no
 * rights.
 */
export function liveObject(bytes: Uint8Array): ResourceObject | undefined {
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  return isResourceObject(value) && value.metadata.deletionTimestamp === undefined ? value : undefined;
}

function isResourceObject(value: unknown): value is ResourceObject {
  if (!isObject(value) || !isObject(value['metadata'])) return false;
  const { name, uid } = value['metadata'];
  return typeof name === 'string' && typeof uid === 'string';
}

export type BindingRecord = {
  readonly name: string;
  readonly role: string;
  readonly users: readonly string[];
};

/**
 * The record of a role binding; undefined if `roleRef` does not name a Role, or if `subjects` is not a list. Subjects
 * that are not Users are ignored.
 */
export function bindingOf(object: ResourceObject): BindingRecord | undefined {
  const roleRef = membersAt(object, 'roleRef');
  const { subjects } = object;
  const role = roleRef['name'];
  if (typeof role !== 'string' || !isOfCore(roleRef, 'Role') || !Array.isArray(subjects)) return undefined;
  const users = new Set<string>();
  for (const subject of subjects) {
    if (isObject(subject) && isOfCore(subject, 'User') && typeof subject['name'] === 'string')
      users.add(subject['name']);
  }
  return { name: object.metadata.name, role, users: [...users] };
}

function isOfCore({ kind, apiGroup }: Members, expected: string): boolean {
  return kind === expected && (apiGroup === undefined || apiGroup === '');
}

export function userOf(object: ResourceObject): UserRecord {
  const { name, uid } = object.metadata;
  const { passwordRevision, timesDisabled } = membersAt(object, 'status');
  return {
    name,
    uid,
    isDisabled: isSet(membersAt(object, 'spec')['disabled']),
    passwordRevision: integer(passwordRevision),
    ...disabledOften(timesDisabled),
  };
}

export function tokenOf(object: ResourceObject): TokenRecord | undefined {
  const { name, uid } = object.metadata;
  const spec = membersAt(object, 'spec');
  const { ownerUid, phase } = membersAt(object, 'status');
  const { owner, roles } = spec;
  const expiresAt = timeOf(spec['expiresAt']);
  if (typeof owner !== 'string' || typeof ownerUid !== 'string' || Number.isNaN(expiresAt)) return undefined;
  // A value of `roles` that is not a list is read as an empty list, so that the token never gets all roles of its
  // owner.
  const restricted =
    roles === undefined || roles === null
      ? undefined
      : Array.isArray(roles)
        ? roles.filter((role) => typeof role === 'string')
        : [];
  return {
    name,
    uid,
    owner,
    ownerUid,
    roles: restricted,
    expiresAt,
    isRevoked: isSet(spec['revoked']),
    ...(phase === 'expired' ? { isExpiryRecorded: true } : {}),
  };
}

export function sessionOf(object: ResourceObject): SessionRecord | undefined {
  const { name, uid } = object.metadata;
  const { user } = membersAt(object, 'spec');
  const { userUid, issuer, passwordRevision, timesDisabled, expiresAt } = membersAt(object, 'status');
  const ends = timeOf(expiresAt);
  if (typeof user !== 'string' || ends === undefined || Number.isNaN(ends)) return undefined;
  const isOfIssuer = typeof issuer === 'string';
  if (!isOfIssuer && typeof userUid !== 'string') return undefined;
  return {
    name,
    uid,
    user,
    userUid: !isOfIssuer && typeof userUid === 'string' ? userUid : undefined,
    ...(isOfIssuer ? { issuer } : {}),
    passwordRevision: integer(passwordRevision),
    ...disabledOften(timesDisabled),
    expiresAt: ends,
  };
}

function membersAt(object: Members, member: string): Members {
  const value = object[member];
  return isObject(value) ? value : {};
}

/**
 * Treats any value except `false`, null and undefined as true, so that a malformed `disabled` or `revoked` takes
 * effect.
 */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function disabledOften(value: unknown): { readonly timesDisabled?: number } {
  const timesDisabled = integer(value);
  return timesDisabled === undefined ? {} : { timesDisabled };
}

function integer(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** The time in epoch milliseconds; undefined if absent, NaN if invalid. */
function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
