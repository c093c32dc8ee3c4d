import { deepEqual } from '../../base/json.ts';
import type { Strategy } from '../../command/strategy.ts';
import { refuseViolations } from './type-members.ts';

/**
 * Wraps the strategy of a type so that its objects accept no new owner references. Otherwise a caller that may delete
 * the owner could delete accounts. References from an old log may be kept or removed.
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
