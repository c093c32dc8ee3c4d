import { deepEqual } from '../../base/json.ts';
import type { Strategy } from '../../command/strategy.ts';
import { refuseViolations } from './type-members.ts';

/**
 * Wraps the strategy of a type so that its objects accept no new owner references. Otherwise, the deletion of an owner
 * would delete accounts, even if the caller may not delete accounts. References from an old log may be kept or removed.
 */
export function withoutOwners(strategy: Strategy): Strategy {
  return {
    ...strategy,
    complete: (completion) => {
      const { before, after } = completion;
      const { ownerReferences: stored = [] } = before?.metadata ?? {};
      const isNew =
        after.metadata.ownerReferences?.some((owner) => !stored.some((known) => deepEqual(owner, known))) === true;
      if (!isNew) return strategy.complete(completion);
      return refuseViolations(after, [
        { pointer: '/metadata/ownerReferences', detail: `must not be set: a ${after.kind} has no owners` },
      ]);
    },
  };
}
