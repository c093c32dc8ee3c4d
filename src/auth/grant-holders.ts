import { superRole } from '../access/standing-roles.ts';
import { refuse } from '../command/refuse.ts';
import { streamName } from '../log/log.ts';
import type { ResourceObject } from '../resource/object.ts';
import type { DecidedChange, Judged } from '../write-rules.ts';
import type { PermissionReader } from './permission-reader.ts';
import { roleBindingKey, userKey } from './types/platform-types.ts';
import { roleNameOf, userNamesOf } from './types/role-binding-type.ts';
import { isDisabled, passwordRevisionOf } from './types/user-type.ts';

/** What a change ends: that this user holds the role, or whoever is bound to it there and is not kept. */
type Ends = { readonly user: string } | { readonly binding: string; readonly kept: ReadonlySet<string> };

type Holder = { readonly binding: string; readonly user: string };

function isEnded(ends: Ends, { binding, user }: Holder): boolean {
  return 'user' in ends ? user === ends.user : binding === ends.binding && !ends.kept.has(user);
}

/** Who takes away somebody's hold on the super role takes this guard first. */
const guard = streamName('guard:super-administrators');

/**
 * Keeps somebody a super administrator: what was judged and has not settled counts as done, so two changes on this node cannot
 * both pass. Between nodes a guard sees to that; of which change, the object's own stream alone tells, as these tables may lag.
 */
export class SuperHolders {
  readonly #permissions: PermissionReader;
  readonly #unsettled = new Set<Ends>();

  constructor(permissions: PermissionReader) {
    this.#permissions = permissions;
  }

  judge(change: DecidedChange): Judged {
    const ends = endedBy(change);
    if (ends === undefined) return { ok: true };
    return { ...this.#judge(ends), guard: takesSupport(change) ? guard : undefined };
  }

  #judge(ends: Ends): Judged {
    // Counted even where nobody is one by it yet: whoever is made one meanwhile may be gone when both are done.
    const release = (): void => { this.#unsettled.delete(ends); };
    if (this.#endsAny(ends) && !this.#isAnyLeft(ends)) return refuse('forbidden', `no other active user has the role "${superRole}": bind it to another user first`);
    this.#unsettled.add(ends);
    return { ok: true, release };
  }

  #endsAny(ends: Ends): boolean {
    if ('user' in ends) return this.#permissions.isHolder(superRole, ends.user);
    for (const holder of this.#permissions.holders(superRole, ends.binding)) if (isEnded(ends, holder)) return true;
    return false;
  }

  /** Mostly the first that is looked at stays: there may be thousands. */
  #isAnyLeft(ends: Ends): boolean {
    const all = [ends, ...this.#unsettled];
    for (const holder of this.#permissions.holders(superRole)) if (!all.some((each) => isEnded(each, holder))) return true;
    return false;
  }
}

/** Whether what is changed may be what somebody holds the role by, and is no more: they are bound to it there, or can log in by it. */
function takesSupport({ type, before, after }: DecidedChange): boolean {
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
