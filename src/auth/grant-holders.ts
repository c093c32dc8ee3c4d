import { superRole } from '../access/standing-roles.ts';
import { refuse } from '../command/refuse.ts';
import type { DecidedChange, Judged } from '../write-rules.ts';
import type { PermissionReader } from './permission-reader.ts';
import { roleBindingKey, userKey } from './types/platform-types.ts';
import { roleNameOf, userNamesOf } from './types/role-binding-type.ts';
import { isDisabled } from './types/user-type.ts';

type Holder = ReturnType<PermissionReader['holders']>[number];

/** Whether a change ends that this user holds the role by this binding. */
type Ends = (holder: Holder) => boolean;

/** Keeps somebody a super administrator: what was judged and has not settled counts as done, so two changes cannot both pass. */
export class SuperHolders {
  readonly #permissions: PermissionReader;
  readonly #unsettled = new Set<Ends>();

  constructor(permissions: PermissionReader) {
    this.#permissions = permissions;
  }

  judge(change: DecidedChange): Judged {
    const ends = endedBy(change);
    if (ends === undefined) return { ok: true };
    // Counted even where nobody is one by it yet: whoever is made one meanwhile may be gone when both are done.
    const release = (): void => { this.#unsettled.delete(ends); };
    const holders = this.#permissions.holders(superRole);
    if (!holders.some(ends)) {
      this.#unsettled.add(ends);
      return { ok: true, release };
    }
    const left = holders.filter((holder) => !ends(holder) && ![...this.#unsettled].some((other) => other(holder)));
    if (left.length === 0) return refuse('forbidden', `nobody else who can log in holds "${superRole}": bind it to another user first`);
    this.#unsettled.add(ends);
    return { ok: true, release };
  }
}

function endedBy({ type, before, after }: DecidedChange): Ends | undefined {
  if (before === undefined) return undefined;
  const { name } = before.metadata;
  if (type === userKey) return after === undefined || isDisabled(after) ? ({ user }) => user === name : undefined;
  if (type !== roleBindingKey) return undefined;
  const kept = new Set(after !== undefined && roleNameOf(after) === superRole ? userNamesOf(after) : []);
  return ({ binding, user }) => binding === name && !kept.has(user);
}
