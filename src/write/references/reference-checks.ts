import { isReconciled, referencesFinalizer } from '../../resource/references/reference-declaration.ts';
import { splitTargetKey, targetKey, type NamedTarget } from '../../resource/references/named-targets.ts';
import { referencesPerObjectMax, referrersCountedMax } from '../../limits/objects.ts';
import { streamName, type LogPosition } from '../../log/log.ts';
import { lastRevision, type ObjectReader } from '../../read/objects.ts';
import type {
  PendingIntent,
  ReferenceFrom,
  ReferenceReader,
  Referrer,
} from '../../read/references/reference-reader.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Subject } from '../../command/subject.ts';
import type { Clock } from '../../base/clock.ts';
import type { Attempt } from '../attempts.ts';
import type { Writing } from '../execute-types.ts';
import type { FoldedStates } from '../folded-states.ts';
import type { Made } from '../proposal.ts';
import type { RetryingLog } from '../retrying-log.ts';
import type { WriteRules } from '../rules.ts';
import { storedIn, type Target } from '../target.ts';
import type { WantedIntent } from './held-intent.ts';
import { withReferences, type Referring } from './held-references.ts';
import { ReferenceIntents } from './reference-intents.ts';
import { refuseExcess, refuseMissing, refuseReferenced } from './reference-refusals.ts';

export type ReferenceCheckDependencies = {
  readonly log: RetryingLog;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly folded: Pick<FoldedStates, 'confirm' | 'reach'>;
  readonly reader: Pick<ObjectReader, 'head'>;
  readonly references: ReferenceReader | undefined;
  readonly rules: Pick<WriteRules, 'mayName'>;
  readonly typeOf: (key: TypeKey) => ResourceType | undefined;
  readonly domain: string;
};

/** The maximum number of missing objects in one refusal. Each missing object is confirmed by a read of the log. */
const missingShownMax = 16;
/** The maximum number of referrers that are read in a search for an unmarked referrer. */
const unmarkedSoughtMax = 64;

/**
 * A decision with its references, and with the intent that the write must hold. `intent` is undefined if no intent is
 * needed.
 */
export type CheckedReferences = Referring & {
  readonly intent: WantedIntent | undefined;
  /** Undefined if the write does not hold the intent, or needs none. */
  readonly held: HeldState | undefined;
};

type HeldState = {
  /** Whether pending writes excluded this write in the turn of the decision. */
  readonly isOpposed: boolean;
  /** Returns the pending writes that exclude this write now. */
  readonly opposing: () => readonly PendingIntent[];
};

function unreferring(decision: Made): Referring {
  return { decision, excess: undefined, missing: [], gained: [] };
}

/** Returns whether the event marks an existing object for deletion. */
function isMarking(target: Target, { event }: Made): boolean {
  return event.type === 'ObjectDeletionRequested' && storedIn(target) !== undefined;
}

/** Checks references in the folded state. A refusal is confirmed by a read of the log. */
export class ReferenceChecks {
  readonly #dependencies: ReferenceCheckDependencies;
  readonly #intents: ReferenceIntents;

  constructor(dependencies: ReferenceCheckDependencies) {
    this.#dependencies = dependencies;
    this.#intents = new ReferenceIntents(dependencies);
  }

  /**
   * Returns a finalizer for an object that is about to be marked, if a reconciler must delete or change objects that
   * name this object. Otherwise returns undefined.
   */
  heldBy(type: ResourceType, name: string): readonly string[] | undefined {
    const { references, domain } = this.#dependencies;
    const isHeld = references
      ?.declaredTo(type.key)
      .some((declared) => isReconciled(declared) && this.#isNamed(type, name, declared));
    return isHeld === true ? [referencesFinalizer(domain)] : undefined;
  }

  /**
   * Returns whether another unmarked object names the object. Also returns true if `unmarkedSoughtMax` objects name the
   * object.
   */
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

  /**
   * Returns the decision with the references of its object, and with the needed intent. Must be called in the turn of
   * the decision.
   */
  read(target: Target, decision: Made, { given }: Writing): CheckedReferences {
    const { references } = this.#dependencies;
    const referring = references === undefined ? unreferring(decision) : withReferences(target, decision, references);
    const intent = isMarking(target, decision)
      ? this.#intents.ofDeletion(target)
      : this.#intents.ofReferences(target, referring.gained);
    const position = intent && given.intent?.positionFor(intent);
    if (intent === undefined || position === undefined) return { ...referring, intent, held: undefined };
    const opposing = (): readonly PendingIntent[] => this.#intents.opposing(target, intent, position);
    return { ...referring, intent, held: { opposing, isOpposed: opposing().length > 0 } };
  }

  /**
   * Refuses a write that names missing objects or too many objects, and a deletion that a reference forbids. Then
   * announces the needed intent, and waits while pending writes exclude this write. Returns or resolves to undefined if
   * nothing prevents the append.
   */
  check(target: Target, read: CheckedReferences, writing: Writing): Promise<Attempt | undefined> | undefined {
    const { decision, excess, missing, intent } = read;
    const isFree = excess === undefined && missing.length === 0 && intent === undefined;
    return isFree && !isMarking(target, decision) ? undefined : this.#checkAll(target, read, writing);
  }

  async #checkAll(target: Target, read: CheckedReferences, writing: Writing): Promise<Attempt | undefined> {
    const { folded } = this.#dependencies;
    const { subject, dryRun } = writing.given.context;
    const { decision, excess, missing, intent, held } = read;
    if (excess !== undefined) return folded.confirm(target, refuseExcess(target, excess, referencesPerObjectMax));
    if (missing.length > 0) return this.#refuseMissing(target, missing.slice(0, missingShownMax));
    const refused = isMarking(target, decision) ? await this.#refuseReferenced(target, subject) : undefined;
    if (refused !== undefined || intent === undefined || dryRun) return refused;
    if (held === undefined) return this.#intents.announce(intent, writing);
    return held.isOpposed ? this.#intents.waitFor(held.opposing, writing) : undefined;
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

  /** Returns the position of the last event of an object if this node has not folded the event; undefined otherwise. */
  async #positionBehind(key: string): Promise<LogPosition | undefined> {
    const { log, reader } = this.#dependencies;
    const folded = lastRevision(reader.head(...splitTargetKey(key))) ?? -1;
    const head = await log.readLast(streamName(`object:${key}`));
    return head !== undefined && head.revision > folded ? head.position : undefined;
  }
}
