import { tokensPerUserMax } from '../../limits/access.ts';
import type { DecidedChange, RuleCheck } from '../../write/rules.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { tokenKey } from '../types/platform-types.ts';
import { refuseViolations, membersAt } from '../types/type-members.ts';

/**
 * Limits the number of tokens of one owner. A token counts as soon as its create is accepted, so concurrent creates on
 * one node cannot exceed the limit. Between nodes, the limit is approximate.
 */
export class TokenQuota {
  readonly #permissions: Pick<PermissionReader, 'tokensOf' | 'token'>;
  /** The uids of the tokens with a create in progress, by owner. */
  readonly #unsettled = new Map<string, Set<string>>();

  constructor(permissions: Pick<PermissionReader, 'tokensOf' | 'token'>) {
    this.#permissions = permissions;
  }

  /** Checks the creation of a token with an owner; returns undefined for any other change. */
  check({ type, before, after }: DecidedChange): RuleCheck | undefined {
    if (type.key !== tokenKey || before !== undefined || after === undefined) return undefined;
    const { owner } = membersAt(after, 'spec');
    if (typeof owner !== 'string') return undefined;
    const unsettled = this.#unsettled.get(owner) ?? new Set<string>();
    // A token may be folded before its write returns, and must be counted once.
    const making = [...unsettled].filter((uid) => this.#permissions.token(uid) === undefined).length;
    if (this.#permissions.tokensOf(owner) + making >= tokensPerUserMax)
      return refuseViolations(after, [{ pointer: '', detail: full }]);
    const { uid } = after.metadata;
    unsettled.add(uid);
    this.#unsettled.set(owner, unsettled);
    return {
      ok: true,
      release: () => {
        unsettled.delete(uid);
        if (unsettled.size === 0 && this.#unsettled.get(owner) === unsettled) this.#unsettled.delete(owner);
      },
    };
  }
}

const full = `a user may have at most ${String(tokensPerUserMax)} tokens: delete a token first`;
