import { tokensPerUserMax } from '../limits/access.ts';
import type { DecidedChange, Judged } from '../write-rules.ts';
import type { PermissionReader } from './permission-reader.ts';
import { tokenKey } from './types/platform-types.ts';
import { broken, membersAt } from './types/type-members.ts';

/**
 * Bounds the tokens of one owner. One that is being made counts from its judgement on, so of many at once no more pass than
 * there is room for. Between nodes it is not exact: each adds what it makes before it hears of the others'.
 */
export class TokenQuota {
  readonly #permissions: Pick<PermissionReader, 'tokensOf' | 'token'>;
  /** By owner, the uids of tokens that are being made. */
  readonly #unsettled = new Map<string, Set<string>>();

  constructor(permissions: Pick<PermissionReader, 'tokensOf' | 'token'>) {
    this.#permissions = permissions;
  }

  /** Undefined for what makes no token. */
  judge({ type, before, after }: DecidedChange): Judged | undefined {
    if (type.key !== tokenKey || before !== undefined || after === undefined) return undefined;
    const { owner } = membersAt(after, 'spec');
    if (typeof owner !== 'string') return undefined;
    const unsettled = this.#unsettled.get(owner) ?? new Set<string>();
    // One that is in the tables and whose write has not ended yet counts once.
    const making = [...unsettled].filter((uid) => this.#permissions.token(uid) === undefined).length;
    if (this.#permissions.tokensOf(owner) + making >= tokensPerUserMax) return broken(after, [{ pointer: '', detail: full }]);
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

const full = `a user may have at most ${String(tokensPerUserMax)} tokens: delete one first`;
