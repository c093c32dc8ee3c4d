import { isObject } from '../../src/base/guards.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import type { PermissionReader } from '../../src/read/permission-reader.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { bindFields } from '../../src/resource/query/bind-fields.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { again, settled, type Outcome } from '../outcome.ts';
import { accountConcurrencyMax } from './platform-limits.ts';
import { namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';
import { PlatformWrites } from './platform-writes.ts';

export type TokensDependencies = PlatformDependencies & {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'subscribe'>;
  readonly tokens: ResourceType;
};

/**
 * Marks expired personal access tokens in their status, and deletes the tokens of deleted users. The marked or deleted
 * token is already invalid, so the status only reports the expiry, and the deletion only frees space.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). The expiry of a token is fixed at its
 * creation, and the uid of a deleted owner is never used again.
 */
export class Tokens extends PlatformReconciler {
  readonly #dependencies: TokensDependencies;
  readonly #writes: PlatformWrites;

  constructor(dependencies: TokensDependencies) {
    super({ name: 'tokens', concurrency: accountConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('tokens', dependencies);
    this.addSubscription(
      dependencies.permissions.subscribe(({ credentials }) => {
        for (const [user, cause] of credentials) this.enqueueKeys(() => this.#tokensOf(user), cause);
      }),
    );
  }

  protected keys(): Iterable<string> {
    return namesOf(this.#dependencies.reader, this.#dependencies.tokens);
  }

  /** Enqueues changed tokens, so that a step runs again if another write of the token was faster. */
  protected onChange({ type, name, kind, cause }: Change): void {
    if (type === this.#dependencies.tokens.key && kind !== 'deleted') this.enqueue(name, cause);
  }

  #tokensOf(user: string): Iterable<string> {
    const { reader, tokens } = this.#dependencies;
    const bound = bindFields([{ field: 'spec.owner', operator: 'in', values: [user] }], tokens.indexes);
    if (!bound.ok) throw new Error(`could not select ${tokens.key} by owner: ${bound.problem}`);
    return namesOf(reader, tokens, bound.requirements);
  }

  protected async reconcile(name: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { reader, permissions, tokens, clock } = this.#dependencies;
    const read = readObject(reader, tokens, name);
    // Permission tables that have not loaded the log contain no users. No token must be deleted because of this.
    if (read === undefined || !permissions.isReady()) return settled;
    const step = decideToken(read.object, { uidOf: (user) => permissions.user(user)?.uid, now: clock.now() });
    switch (step.type) {
      case 'nothing':
        return settled;
      case 'wait':
        return again(step.forMs);
      case 'delete':
        return this.#writes.because(cause).delete(read);
      case 'expire':
        return this.#writes.because(cause).patch(read, { status: { phase: 'expired' } });
    }
  }
}

export type TokenStep =
  { readonly type: 'nothing' | 'delete' | 'expire' } | { readonly type: 'wait'; readonly forMs: number };

type TokenFacts = {
  readonly uidOf: (user: string) => string | undefined;
  readonly now: number;
};

/** `uidOf` returns the uid of the user with this name; undefined if the user does not exist or is marked. */
export function decideToken({ metadata, spec, status }: ResourceObject, { uidOf, now }: TokenFacts): TokenStep {
  if (metadata.deletionTimestamp !== undefined) return { type: 'nothing' };
  const { owner, expiresAt } = isObject(spec) ? spec : {};
  const { ownerUid, phase } = isObject(status) ? status : {};
  // Only the uid identifies the owner. A token without an owner uid was created by the platform.
  if (typeof owner === 'string' && typeof ownerUid === 'string' && uidOf(owner) !== ownerUid) return { type: 'delete' };
  const expiry = typeof expiresAt === 'string' ? Date.parse(expiresAt) : NaN;
  if (Number.isNaN(expiry) || phase === 'expired') return { type: 'nothing' };
  return expiry <= now ? { type: 'expire' } : { type: 'wait', forMs: expiry - now };
}
