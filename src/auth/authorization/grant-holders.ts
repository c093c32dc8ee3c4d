import { superRole } from '../../access/role-names.ts';
import { refuse } from '../../command/refuse.ts';
import { streamName } from '../../log/log.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { DecidedChange, RuleCheck } from '../../write/rules.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { roleBindingKey, userKey } from '../types/platform-types.ts';
import { roleNameOf, userNamesOf } from '../types/role-binding-type.ts';
import { isDisabled, passwordRevisionOf } from '../types/user-type.ts';

/** The holders that a change removes: one user, or all users of a binding except those in `kept`. */
type Ends = { readonly user: string } | { readonly binding: string; readonly kept: ReadonlySet<string> };

type Holder = {
  readonly binding: string;
  readonly user: string;
};

function isEnded(ends: Ends, { binding, user }: Holder): boolean {
  return 'user' in ends ? user === ends.user : binding === ends.binding && !ends.kept.has(user);
}

/** The stream of the guard. A change that may remove a holder of the super role first appends to this stream. */
const guard = streamName('guard:super-administrators');

/**
 * Ensures that one super administrator remains. An accepted change that is not folded yet counts as complete, so two
 * concurrent changes on one node cannot both remove the last holders. Between nodes, the guard serializes the changes.
 */
export class SuperAdministratorGuard {
  readonly #permissions: PermissionReader;
  readonly #unsettled = new Set<Ends>();

  constructor(permissions: PermissionReader) {
    this.#permissions = permissions;
  }

  check(change: DecidedChange): RuleCheck {
    const ends = endedBy(change);
    if (ends === undefined) return { ok: true };
    return { ...this.#checkEnds(ends), guard: removesHolder(change) ? guard : undefined };
  }

  #checkEnds(ends: Ends): RuleCheck {
    // A change that removes no present holder is also registered, because a removed user may become a holder meanwhile.
    // Otherwise this change and a concurrent change could together remove the last holders.
    const release = (): void => {
      this.#unsettled.delete(ends);
    };
    if (this.#endsAny(ends) && !this.#isAnyLeft(ends))
      return refuse('forbidden', `no other active user has the role "${superRole}": bind it to another user first`);
    this.#unsettled.add(ends);
    return { ok: true, release };
  }

  #endsAny(ends: Ends): boolean {
    if ('user' in ends) return this.#permissions.isHolder(superRole, ends.user);
    for (const holder of this.#permissions.holders(superRole, ends.binding)) if (isEnded(ends, holder)) return true;
    return false;
  }

  /** Returns whether a holder remains. Stops at the first holder, because there may be thousands. */
  #isAnyLeft(ends: Ends): boolean {
    const all = [ends, ...this.#unsettled];
    for (const holder of this.#permissions.holders(superRole))
      if (!all.some((each) => isEnded(each, holder))) return true;
    return false;
  }
}

/**
 * Returns whether the change may remove a holder of the super role. Such a change removes a user from a binding to the
 * role, or disables or deletes a user that can log in. Uses the object's state in the decision, because the permission
 * tables may lag.
 */
function removesHolder({ type, before, after }: DecidedChange): boolean {
  if (before === undefined || before.metadata.deletionTimestamp !== undefined) return false;
  if (type.key === userKey) return !isDisabled(before) && passwordRevisionOf(before) !== undefined;
  if (roleNameOf(before) !== superRole) return false;
  const kept = boundToSuper(after);
  return userNamesOf(before).some((user) => !kept.has(user));
}

function endedBy({ type, before, after }: DecidedChange): Ends | undefined {
  if (before === undefined) return undefined;
  const { name } = before.metadata;
  if (type.key === userKey) return after === undefined || isDisabled(after) ? { user: name } : undefined;
  if (type.key !== roleBindingKey) return undefined;
  return { binding: name, kept: boundToSuper(after) };
}

function boundToSuper(binding: ResourceObject | undefined): ReadonlySet<string> {
  return new Set(binding !== undefined && roleNameOf(binding) === superRole ? userNamesOf(binding) : []);
}
