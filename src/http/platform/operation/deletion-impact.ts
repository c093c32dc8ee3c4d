import { foregroundFinalizer, orphanFinalizer, type Propagation } from '../../../command/propagation.ts';
import { impactCountedMax, impactShownMax } from '../../../limits/objects.ts';
import type { DependentReader } from '../../../read/operation/dependents.ts';
import type { ReferenceReader } from '../../../read/references/reference-reader.ts';
import { targetKey } from '../../../resource/references/named-targets.ts';
import type { OnDelete } from '../../../resource/references/reference-declaration.ts';
import type { TypeKey } from '../../../resource/type/index-entry.ts';

export type ImpactPorts = {
  readonly references: Pick<ReferenceReader, 'declaredTo' | 'referrers'>;
  readonly dependents: DependentReader;
  /** Whether the caller may `get` the object. */
  readonly mayRead: (type: TypeKey, name: string) => boolean;
};

export type Doomed = {
  readonly type: TypeKey;
  readonly name: string;
  readonly uid: string;
  /** The finalizers of the object: after the deletion, or at present if the deletion is refused. */
  readonly finalizers: readonly string[];
  readonly propagation: Propagation | undefined;
};

/**
 * Objects that a deletion concerns. `total`: their number, at most `impactCountedMax`. `isMore`: whether there are
 * more. `items`: those of the first `impactShownMax` that the caller may read. `hidden`: the number of the other
 * counted objects.
 */
type Concerned<Item> = {
  readonly total: number;
  readonly isMore: boolean;
  readonly items: readonly Item[];
  readonly hidden: number;
};

export type DeletionImpact = {
  /** The objects with an owner reference to the object, and the effect of the deletion on each. */
  readonly dependents: Concerned<{
    readonly type: TypeKey;
    readonly name: string;
    /** `delete`: the object is deleted. `release`: its reference to the owner is removed. */
    readonly effect: 'delete' | 'release';
  }>;
  /** The declared references by which objects name the object. References without such objects are left out. */
  readonly references: readonly ({
    readonly type: TypeKey;
    readonly field: string;
    readonly onDelete: OnDelete;
  } & Concerned<{ readonly name: string }>)[];
};

/** Returns the objects that the deletion of an object concerns. The cost is bounded. */
export function impactOf(doomed: Doomed, ports: ImpactPorts): DeletionImpact {
  return { dependents: dependentsOf(doomed, ports), references: referencesTo(doomed, ports) };
}

function dependentsOf({ uid, finalizers, propagation }: Doomed, ports: ImpactPorts): DeletionImpact['dependents'] {
  const isOrphaning =
    propagation === undefined
      ? finalizers.includes(orphanFinalizer) && !finalizers.includes(foregroundFinalizer)
      : propagation === 'Orphan';
  const found = ports.dependents.dependentsOf(uid, impactCountedMax + 1);
  const { items, ...counts } = concerned(found, ({ type, name }) => ports.mayRead(type, name));
  return {
    ...counts,
    items: items.map(({ type, name, hasOtherOwners }) => ({
      type,
      name,
      effect: isOrphaning || hasOtherOwners ? 'release' : 'delete',
    })),
  };
}

/** Leaves out the references of the object to itself, which do not prevent its deletion. */
function referencesTo({ type, name }: Doomed, { references, mayRead }: ImpactPorts): DeletionImpact['references'] {
  const key = targetKey(type, name);
  return references.declaredTo(type).flatMap((declared) => {
    const found = references
      .referrers(key, declared, { limit: impactCountedMax + 2 })
      .filter((referrer) => targetKey(referrer.type, referrer.name) !== key);
    if (found.length === 0) return [];
    const { items, ...counts } = concerned(found, (referrer) => mayRead(referrer.type, referrer.name));
    const { from, field, onDelete } = declared;
    return [{ type: from, field, onDelete, ...counts, items: items.map((referrer) => ({ name: referrer.name })) }];
  });
}

function concerned<Item>(found: readonly Item[], mayRead: (item: Item) => boolean): Concerned<Item> {
  const total = Math.min(found.length, impactCountedMax);
  const items = found.slice(0, impactShownMax).filter(mayRead);
  return { total, isMore: found.length > impactCountedMax, items, hidden: total - items.length };
}
