import { referencesPerObjectMax } from '../../limits/objects.ts';
import { isReconciled, isStrict } from '../../resource/references/reference-declaration.ts';
import {
  namedTargets,
  referenceKey,
  targetKey,
  type HeldReference,
  type NamedTarget,
} from '../../resource/references/named-targets.ts';
import type { ReferenceReader } from '../../read/references/reference-reader.ts';
import { storedIn, type Target } from '../target.ts';
import type { Made } from '../proposal.ts';

/** A decision with the references of its object. */
export type Referring = {
  readonly decision: Made;
  /** The number of names in the object's references, if the write adds names beyond the limit; undefined otherwise. */
  readonly excess: number | undefined;
  /** The names that the write must not add, because the object does not exist or is being deleted. */
  readonly missing: readonly NamedTarget[];
  /** The keys of the objects to which the write adds strict references. */
  readonly gained: readonly string[];
};

/**
 * Returns the decision with the references of its object, in the folded state. Must be called in the turn of the
 * decision. A reference of the stored object keeps the uid of its target. Otherwise a write after the target's deletion
 * could hide the reference from the reconciler.
 */
export function withReferences(target: Target, decision: Made, references: ReferenceReader): Referring {
  const { type, name } = target;
  const { event } = decision;
  if (type.references.length === 0 || event.type === 'ObjectDeleted' || event.object === undefined)
    return { decision, excess: undefined, missing: [], gained: [] };
  const named = namedTargets(type.references, event.object);
  const before = storedIn(target);
  const had = new Set(before && namedTargets(type.references, before).map(keyOf));
  const held = new Map(before && references.of(type.key, name).map((ref) => [referenceKey(ref), ref]));
  const own = { key: targetKey(type.key, name), uid: event.object.metadata.uid };
  const all = named.slice(0, referencesPerObjectMax).map((each) => lookUp(each, { held, own, references }));
  const refs = all.flatMap(({ ref }) => (ref === undefined ? [] : [ref]));
  const isExcessive = named.length > Math.max(referencesPerObjectMax, had.size);
  return {
    decision: refs.length === 0 ? decision : { ...decision, event: { ...event, refs } },
    excess: isExcessive ? named.length : undefined,
    missing: all.filter((each) => isMissing(each) && !had.has(keyOf(each.named))).map((each) => each.named),
    gained: all.flatMap(({ named: { declared, target: key }, known, state }) =>
      key === undefined || known !== undefined || state !== 'there' || !isStrict(declared) ? [] : [key],
    ),
  };
}

type Known = {
  /** The references of the stored object, by `referenceKey`. */
  readonly held: ReadonlyMap<string, HeldReference>;
  readonly own: { readonly key: string; readonly uid: string };
  readonly references: Pick<ReferenceReader, 'target'>;
};

type LookedUp = {
  readonly named: NamedTarget;
  /** The same reference in the stored object; undefined for a new reference. */
  readonly known: HeldReference | undefined;
  readonly state: 'own' | 'there' | 'missing';
  readonly ref: HeldReference | undefined;
};

function lookUp(named: NamedTarget, { held, own, references }: Known): LookedUp {
  const { declared, target: key } = named;
  const known = held.get(keyOf(named));
  if (key === undefined) return { named, known, state: 'missing', ref: undefined };
  const found = key === own.key ? { uid: own.uid, isMarked: false } : references.target(key);
  const isThere = found !== undefined && !found.isMarked;
  const state = key === own.key ? 'own' : isThere ? 'there' : 'missing';
  const isKept = known?.uid !== undefined && isReconciled(declared);
  return { named, known, state, ref: isKept ? known : refOf(named, found?.uid) };
}

function isMissing({ named: { declared }, known, state }: LookedUp): boolean {
  return declared.onMissing === 'refuse' && state === 'missing' && known === undefined;
}

/**
 * Returns the reference for the event. The reference contains the uid only if a reconciler acts on deletions of the
 * target. Otherwise a later declaration with `cascade` or `clear` would also apply to earlier deletions.
 */
function refOf({ declared, target = '' }: NamedTarget, uid: string | undefined): HeldReference {
  const { field } = declared;
  return uid === undefined || !isReconciled(declared) ? { field, target } : { field, target, uid };
}

function keyOf({ declared: { field }, target, name }: NamedTarget): string {
  return referenceKey({ field, target: target ?? name });
}
