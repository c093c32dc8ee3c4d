import { isObject } from '../../src/base/guards.ts';
import type { PermissionReader } from '../../src/read/permission-reader.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { bindFields } from '../../src/resource/query/sort-keys.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { Controller } from '../controller.ts';
import { again, settled, type Outcome } from '../outcome.ts';
import { accountConcurrencyMax } from './platform-limits.ts';
import { namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformWrites } from './platform-writes.ts';

/**
 * Marks expired personal access tokens in their status, and deletes those of deleted users. Both are invalid before
 * that, by their time and their owner's uid; this only reports and cleans up.
 *
 * A deposed leader may still take one last step, which is harmless (consistency protocol, 6): it is appended at the
 * revision it was decided on, a token's expiry is fixed at its creation, and the uid of a deleted owner never comes
 * back. A fast clock may mark a valid token as expired, which is wrong but has no effect.
 */
export type TokensDependencies = PlatformDependencies & {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'subscribe'>;
  /** The type PersonalAccessToken. */
  readonly tokens: ResourceType;
};

export class Tokens {
  readonly #dependencies: TokensDependencies;
  readonly #controller: Controller;
  readonly #writes: PlatformWrites;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(dependencies: TokensDependencies) {
    const { changes, permissions, tokens, reader, bound, clock, leadership, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('tokens', dependencies);
    this.#controller = new Controller({
      name: 'tokens',
      bound,
      concurrency: accountConcurrencyMax,
      clock,
      leadership,
      onError,
      keys: () => namesOf(reader, tokens),
      reconcile: (name) => this.#reconcile(name),
    });
    this.#unsubscribe = [
      // Also on changes: a step that lost a race, to a recorded use for example, runs again.
      changes.subscribe((batch) => {
        for (const { type, name, kind } of batch.changes)
          if (type === tokens.key && kind !== 'deleted') this.#controller.enqueue(name);
      }),
      permissions.subscribe(({ credentials }) => {
        for (const user of credentials) this.#controller.enqueueAll(() => this.#tokensOf(user));
      }),
    ];
  }

  /** Call it once the permission tables are ready. */
  open(): void {
    this.#controller.open();
  }

  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#controller.stop();
  }

  #tokensOf(user: string): Iterable<string> {
    const { reader, tokens } = this.#dependencies;
    const bound = bindFields([{ field: 'spec.owner', operator: 'in', values: [user] }], tokens.indexes);
    if (!bound.ok) throw new Error(`${tokens.key}: ${bound.problem}`);
    return namesOf(reader, tokens, bound.requirements);
  }

  async #reconcile(name: string): Promise<Outcome> {
    const { reader, permissions, tokens, clock } = this.#dependencies;
    const read = readObject(reader, tokens, name);
    // Tables that have not loaded the log know no users: that must not delete a token.
    if (read === undefined || !permissions.isReady()) return settled;
    const step = judgeToken(read.object, { uidOf: (user) => permissions.user(user)?.uid, now: clock.now() });
    switch (step.type) {
      case 'nothing':
        return settled;
      case 'wait':
        return again(step.forMs);
      case 'delete':
        return this.#writes.delete(read);
      case 'expire':
        return this.#writes.patch(read, { status: { phase: 'expired' } });
    }
  }
}

export type TokenStep =
  { readonly type: 'nothing' | 'delete' | 'expire' } | { readonly type: 'wait'; readonly forMs: number };

/** `uidOf`: the uid of the present user of the name, unless marked. */
export function judgeToken(
  { metadata, spec, status }: ResourceObject,
  { uidOf, now }: { readonly uidOf: (user: string) => string | undefined; readonly now: number },
): TokenStep {
  if (metadata.deletionTimestamp !== undefined) return { type: 'nothing' };
  const { owner, expiresAt } = isObject(spec) ? spec : {};
  const { ownerUid, phase } = isObject(status) ? status : {};
  // Only the uid identifies the owner; a token without it was created by the platform.
  if (typeof owner === 'string' && typeof ownerUid === 'string' && uidOf(owner) !== ownerUid) return { type: 'delete' };
  const expiry = typeof expiresAt === 'string' ? Date.parse(expiresAt) : NaN;
  if (Number.isNaN(expiry) || phase === 'expired') return { type: 'nothing' };
  return expiry <= now ? { type: 'expire' } : { type: 'wait', forMs: expiry - now };
}
