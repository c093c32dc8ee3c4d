import { deepEqual } from '../../base/json.ts';
import { refuse, type Refused } from '../../command/refuse.ts';
import { actorOf } from '../../command/subject.ts';
import type { OwnerReference, ResourceObject } from '../../resource/object/object.ts';
import { groupOf } from '../../resource/object/owner-reference.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { DecidedChange } from '../../write/rules.ts';
import { missingRight } from './object-rights.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';

/** Returns the registered type of a group and kind, in any version. */
export type TypeOfKind = (group: string, kind: string) => ResourceType | undefined;

type OwnerTables = {
  readonly permissions: PermissionReader;
  readonly typeOfKind: TypeOfKind;
};

/** The refusal of a change that cannot be checked, because the permission tables are not loaded yet. */
export const notReady: Refused = {
  ok: false,
  rejection: { reason: 'unavailable', detail: 'the permission tables are not ready yet', retryAfterSeconds: 1 },
};

/**
 * Refuses a change of an object's owner references if the writer lacks the needed rights (decision 3.5). The writer
 * needs the right to delete the object, because garbage collection deletes an object without existing owners. A create
 * does not need this right. A reference with `blockOwnerDeletion` also needs a right on the owner, because it delays
 * the owner's deletion.
 *
 * As in Kubernetes' OwnerReferencesPermissionEnforcement, every difference is a change, including a different order.
 */
export function checkOwnerRights(change: DecidedChange, known: OwnerTables): Refused | undefined {
  const { before, after, subject } = change;
  // Usually neither version has owners.
  const [was, is] = [before?.metadata.ownerReferences, after?.metadata.ownerReferences];
  if (after === undefined || deepEqual(was, is) || subject.kind === 'plugin' || subject.kind === 'platform')
    return undefined;
  if (!known.permissions.isReady()) return notReady;
  return (
    (before === undefined ? undefined : undeletable(before, change, known)) ??
    firstBeyondRights(newlyBlocking(was, is), change, known)
  );
}

function undeletable(
  { metadata: { name } }: ResourceObject,
  { type, subject }: DecidedChange,
  { permissions }: OwnerTables,
): Refused | undefined {
  const unheld = missingRight({ verb: 'delete', type, name }, subject, permissions);
  return unheld === undefined
    ? undefined
    : refuse('forbidden', `${unheld}: changing metadata.ownerReferences requires permission to delete the object`);
}

function firstBeyondRights(
  owners: readonly OwnerReference[],
  change: DecidedChange,
  known: OwnerTables,
): Refused | undefined {
  for (const owner of owners) {
    const refused = checkBlockingRights(owner, change, known);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Returns the owner references of `is` that block the deletion of their owner and are not in `was`. */
function newlyBlocking(
  was: readonly OwnerReference[] = [],
  is: readonly OwnerReference[] = [],
): readonly OwnerReference[] {
  return is.filter((owner) => owner.blockOwnerDeletion === true && !was.some((other) => deepEqual(owner, other)));
}

/**
 * Refuses a reference that blocks the deletion of its owner, unless the writer may update the owner's finalizers. The
 * resource of an unregistered kind is unknown, so only a super administrator may block the deletion of such an owner.
 */
function checkBlockingRights(
  owner: OwnerReference,
  { subject }: DecidedChange,
  { permissions, typeOfKind }: OwnerTables,
): Refused | undefined {
  const { apiVersion, kind, name } = owner;
  const type = typeOfKind(groupOf(apiVersion), kind);
  if (type !== undefined) {
    const unheld = missingRight({ verb: 'update', type, name, subresource: 'finalizers' }, subject, permissions);
    return unheld === undefined
      ? undefined
      : refuse('forbidden', `${unheld}: blockOwnerDeletion requires permission to update the owner's finalizers`);
  }
  if (permissions.rightsOf(subject).isSuperAdministrator) return undefined;
  const right = `cannot update the finalizers of ${kind} ${JSON.stringify(name)} of ${apiVersion}`;
  return refuse(
    'forbidden',
    `User ${JSON.stringify(actorOf(subject))} ${right}: no such type is registered, so only a super ` +
      'administrator may set blockOwnerDeletion',
  );
}
