import { deepEqual } from '../../base/json.ts';
import type { Strategy } from '../../command/strategy.ts';
import { refuseViolations } from './type-members.ts';

/**
 * The strategy of a type with objects that accept no owner references from any writer: a caller that may delete the
 * owner could otherwise delete accounts. References from an old log may stay or be removed.
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
