import { isReconciled, referencesFinalizer } from '../../resource/references/reference-declaration.ts';
import { targetKey, type NamedTarget } from '../../resource/references/named-targets.ts';
import { referencesPerObjectMax, referrersCountedMax } from '../../limits/objects.ts';
import { streamName, type LogPosition } from '../../log/log.ts';
import { lastRevision, type ObjectReader } from '../../read/objects.ts';
import type { ReferenceFrom, ReferenceReader, Referrer } from '../../read/references/reference-reader.ts';
import { typeKey, type TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Subject } from '../../command/subject.ts';
import type { Attempt } from '../attempts.ts';
import type { FoldedStates } from '../folded-states.ts';
import type { Made } from '../proposal.ts';
import type { RetryingLog } from '../retrying-log.ts';
import type { WriteRules } from '../rules.ts';
import { storedIn, type Target } from '../target.ts';
import { withReferences, type Referring } from './held-references.ts';
import { refuseExcess, refuseMissing, refuseReferenced } from './reference-refusals.ts';

export type ReferenceCheckDependencies = {
  readonly log: Pick<RetryingLog, 'readLast'>;
  readonly folded: Pick<FoldedStates, 'confirm' | 'reach'>;
  readonly reader: Pick<ObjectReader, 'head'>;
  readonly references: ReferenceReader | undefined;
  readonly rules: Pick<WriteRules, 'mayName'>;
  readonly typeOf: (key: TypeKey) => ResourceType | undefined;
  readonly domain: string;
};

/** The most missing objects that one refusal lists. Each one is confirmed by a read of the log. */
const missingShownMax = 16;
/** The most referring objects that are read to find one that is not marked. */
const unmarkedSoughtMax = 64;

/** Checks of references by the state that this node has folded, confirmed by the log before a refusal. */
export class ReferenceChecks {
  readonly #dependencies: ReferenceCheckDependencies;

  constructor(dependencies: ReferenceCheckDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the finalizers of an object that is marked now: one if a reconciler must follow its deletion. */
  heldBy(type: ResourceType, name: string): readonly string[] | undefined {
    const { references, domain } = this.#dependencies;
    const isHeld = references
      ?.declaredTo(type.key)
      .some((declared) => isReconciled(declared) && this.#isNamed(type, name, declared));
    return isHeld === true ? [referencesFinalizer(domain)] : undefined;
  }

  /** Whether an unmarked object other than the object itself names it. */
  #isNamed(type: ResourceType, name: string, declared: ReferenceFrom): boolean {
    const { references } = this.#dependencies;
    const key = targetKey(type.key, name);
    const found = references?.referrers(key, declared, { limit: unmarkedSoughtMax }) ?? [];
    const others = found.filter((referrer) => targetKey(referrer.type, referrer.name) !== key);
    return (
      found.length === unmarkedSoughtMax ||
      others.some((other) => references?.isMarked(other.type, other.name) === false)
    );
  }

  /** Returns the decision with its references. Must be called in the turn of the decision. */
  read(target: Target, decision: Made): Referring {
    const { references } = this.#dependencies;
    return references === undefined
      ? { decision, excess: undefined, missing: [], gained: [] }
      : withReferences(target, decision, references);
  }

  /** Returns the refusal of a write that names missing objects, or of a deletion because other objects name it. */
  async refusal(
    target: Target,
    { decision, excess, missing }: Referring,
    subject: Subject,
  ): Promise<Attempt | undefined> {
    const { folded } = this.#dependencies;
    if (excess !== undefined) return folded.confirm(target, refuseExcess(target, excess, referencesPerObjectMax));
    if (missing.length > 0) return this.#refuseMissing(target, missing.slice(0, missingShownMax));
    const isMarking = decision.event.type === 'ObjectDeletionRequested' && storedIn(target) !== undefined;
    return isMarking ? this.#refuseReferenced(target, subject) : undefined;
  }

  async #refuseMissing(target: Target, missing: readonly NamedTarget[]): Promise<Attempt> {
    const { folded, references } = this.#dependencies;
    for (const { target: key } of missing) {
      const behind = key === undefined ? undefined : await this.#positionBehind(key);
      if (behind !== undefined) return folded.reach(behind);
    }
    const isMarked = (key: string): boolean => references?.target(key)?.isMarked === true;
    return folded.confirm(target, refuseMissing(target, missing, isMarked));
  }

  async #refuseReferenced(target: Target, subject: Subject): Promise<Attempt | undefined> {
    const { folded, references, rules, typeOf } = this.#dependencies;
    for (const declared of references?.declaredTo(target.type.key) ?? []) {
      if (declared.onDelete !== 'refuse') continue;
      const referrers = this.#othersNaming(target, declared);
      const [first] = referrers;
      if (first === undefined) continue;
      const behind = await this.#positionBehind(targetKey(first.type, first.name));
      if (behind !== undefined) return folded.reach(behind);
      const type = typeOf(declared.from);
      const mayName = (name: string): boolean => type !== undefined && rules.mayName(subject, type, name);
      return folded.confirm(target, refuseReferenced(target, { declared, referrers, mayName }));
    }
    return undefined;
  }

  #othersNaming({ type, name }: Target, declared: ReferenceFrom): readonly Referrer[] {
    const key = targetKey(type.key, name);
    const found = this.#dependencies.references?.referrers(key, declared, { limit: referrersCountedMax + 1 }) ?? [];
    return found.filter((referrer) => targetKey(referrer.type, referrer.name) !== key);
  }

  /** The position of the last event of an object if this node has not folded it. */
  async #positionBehind(key: string): Promise<LogPosition | undefined> {
    const { log, reader } = this.#dependencies;
    const slash = key.indexOf('/');
    const folded = lastRevision(reader.head(typeKey(key.slice(0, slash)), key.slice(slash + 1))) ?? -1;
    const head = await log.readLast(streamName(`object:${key}`));
    return head !== undefined && head.revision > folded ? head.position : undefined;
  }
}
