import type { Command, WriteContext } from '../command/command.ts';
import { nameOf } from '../command/decide.ts';
import type { Facts } from '../command/facts.ts';
import { eventSchema, type EventMetadata } from '../command/event.ts';
import { expectedOf, initialState } from '../command/evolve.ts';
import { warned } from '../command/refuse.ts';
import type { Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import { decideInVersion } from '../command/versions/preferred-command.ts';
import { objectBytesMax } from '../limits/objects.ts';
import { smallEventBytes, writeFoldWaitMs } from '../limits/writes.ts';
import type { StreamName } from '../log/log.ts';
import { nameProblem } from '../resource/type/names.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { RuleCheck } from './rules.ts';
import { retryingLog, type RetryingLog } from './retrying-log.ts';
import type { Admitted } from './admission/admission.ts';
import type { Attempt } from './attempts.ts';
import { decidedBy, isStillDecidedBy, type DecidedBy } from './declared.ts';
import type { Given, WriteDoorDependencies, Writing } from './execute-types.ts';
import { FoldedStates } from './folded-states.ts';
import { HeldGuard } from './guard.ts';
import { refusalOf, shownOnce } from './outcomes.ts';
import { answerOf, lackingIn, propose, sizeOf, type Made, type Proposal } from './proposal.ts';
import { diskShort, refuseTaken, tooLarge, tooManyHashes, unavailable } from './refusals.ts';
import { isHeldBack } from './admission/disk-admission.ts';
import { EventStamps } from './event-stamps.ts';
import { baseOf, storedIn, streamOf, type Target } from './target.ts';
import type { StreamQueues } from './stream-queues.ts';
import { ReferenceChecks } from './references/reference-checks.ts';
import {
  claimValues,
  heldOnItsWayOut,
  storedHolder,
  type StoredHolder,
  type ValuesRefused,
} from './unique/unique-values.ts';

/** Attempts of commands. An attempt reads the state, decides, claims unique values and appends. */
export class WriteAttempts {
  readonly #dependencies: WriteDoorDependencies;
  /** The log, with retries of unknown outcomes. */
  readonly #log: RetryingLog;
  readonly #folded: FoldedStates;
  readonly #turns: StreamQueues;
  readonly #stamps: EventStamps;
  readonly #references: ReferenceChecks;

  constructor(dependencies: WriteDoorDependencies, turns: StreamQueues) {
    this.#dependencies = dependencies;
    this.#log = retryingLog(dependencies.log, dependencies.clock);
    this.#folded = new FoldedStates(this.#log, dependencies.reader);
    this.#turns = turns;
    this.#stamps = new EventStamps(dependencies);
    const { reader, references, rules, domain, clock, uuid, typeOf = () => undefined } = dependencies;
    const [log, folded] = [this.#log, this.#folded];
    this.#references = new ReferenceChecks({ log, clock, uuid, folded, reader, references, rules, typeOf, domain });
  }

  attempt(type: ResourceType, command: Command, given: Given): Promise<Attempt> {
    const isNeeded = this.#dependencies.rules.needsLastGrants(type.key, given.context.subject);
    return !isNeeded || isUnchecked[command.type] || given.hasLastGrants === true
      ? this.#decide(type, command, given)
      : this.#decideByLastGrants(type, command, given);
  }

  /** Folds all rights that were in the log when the attempt began, and then decides. */
  async #decideByLastGrants(type: ResourceType, command: Command, given: Given): Promise<Attempt> {
    const reached = await this.#folded.reachEnd();
    if (reached !== 'again') return reached;
    given.hasLastGrants = true;
    return this.#decide(type, command, given);
  }

  async #decide(type: ResourceType, command: Command, given: Given): Promise<Attempt> {
    const { context } = given;
    const name = (command.type === 'create' ? nameOf(command.object, given.suffix) : command.name) ?? '';
    const refused = this.#stamps.refusal();
    if (refused !== undefined) return refused;
    const declared = decidedBy(this.#dependencies.declarations, type);
    if (!declared.ok) return declared;
    const { by } = declared;
    const now = this.#stamps.next();
    const facts: Facts = {
      type,
      onceUnique: this.#dependencies.declarations?.onceUnique(type.key),
      now,
      uid: given.uid,
      suffix: given.suffix,
      domain: this.#dependencies.domain,
      origin: context.origin,
      fieldValidation: context.fieldValidation,
      subject: context.subject,
      strategy: this.#dependencies.rules.strategyOf(type.key),
      kept: given.kept,
      hookWatch: this.#dependencies.hookWatch,
      heldBy: command.type === 'delete' ? this.#references.heldBy(type, name) : undefined,
    };
    // An invalid name is not looked up, because the log and the tables refuse invalid names as keys.
    if (nameProblem(name) !== undefined)
      return refusalOf(decideInVersion(initialState, command, facts, given.asked), name);
    const target: Target = { type, name, stream: streamOf(type, name), state: this.#folded.state(type, name) };
    const decision = decideInVersion(target.state, command, facts, given.asked);
    if (!decision.ok || decision.event === undefined) return this.#folded.confirm(target, decision);
    const [isTrusted, isBegun] = [given.admitted.writer.kind === 'trusted', given.kept !== undefined];
    const write = { command, context, state: target.state, object: decision.object, isTrusted, isBegun };
    if (isHeldBack(this.#dependencies.disk, write)) return diskShort();
    const writing = { given, metadata: metadataOf(context, now, by), by };
    const carriedOut = isUnchecked[command.type]
      ? this.#carryOut(target, decision, writing)
      : this.#checkAndCarryOut(target, decision, writing);
    return warned(await carriedOut, decision.warnings);
  }

  async #checkAndCarryOut(target: Target, decision: Made, writing: Writing): Promise<Attempt> {
    const { guard: held, context } = writing.given;
    const checked = this.#check(target, decision, context);
    if (checked.guard !== undefined && !context.dryRun && held?.covers(checked.guard, baseOf(target)) !== true) {
      if (checked.ok) checked.release?.();
      return this.#takeGuard(checked.guard, target, writing);
    }
    if (!checked.ok) return this.#folded.confirm(target, checked);
    try {
      return await this.#carryOut(target, decision, writing);
    } finally {
      checked.release?.();
    }
  }

  /** Takes the guard. The command must then be decided again, because a decision without the guard is invalid. */
  async #takeGuard(guard: StreamName, target: Target, { given, metadata }: Writing): Promise<Attempt> {
    const { clock, reader, uuid } = this.#dependencies;
    given.guard ??= new HeldGuard(
      {
        log: this.#log,
        clock,
        reader,
        uuid,
        turns: this.#turns,
        writer: given.admitted.writer,
        foldWaitMs: writeFoldWaitMs,
      },
      () => metadata,
    );
    return (await given.guard.take(guard, baseOf(target))) ? 'again' : unavailable();
  }

  async #carryOut(target: Target, decided: Made, writing: Writing): Promise<Attempt> {
    const referring = this.#references.read(target, decided, writing);
    const { decision } = referring;
    const { given, metadata, by } = writing;
    const { clock, uuid, appendBytesMax } = this.#dependencies;
    const {
      admitted,
      context: { dryRun, subject },
    } = given;
    if (decision.withheld !== undefined && !dryRun) return this.#keep(decision.withheld, decision, writing);
    const indexed = decision.entry && { fingerprint: target.type.fingerprint, entry: decision.entry };
    const proposing = { uuid, metadata, indexed, appendBytesMax };
    const proposal = propose(decision, proposing);
    const { bytes, largest } = sizeOf(proposal);
    const limited = admitted.takeEvents(proposal.events, { isTooLarge: largest > objectBytesMax });
    if (limited !== undefined) return limited;
    if (largest > objectBytesMax) return this.#folded.confirm(target, tooLarge(largest));
    if (!dryRun) this.#dependencies.disk?.take(bytes);
    const refused = await this.#references.check(target, referring, writing);
    if (refused !== undefined) return refused;
    const stored = await this.#refuseStored(target, decision, writing);
    if (stored !== undefined) return stored;
    const mayLack = heldOnItsWayOut(target.type, storedIn(target), decision.object);
    const wanted = { ...baseOf(target), type: target.type, event: decision.event, metadata, by, dryRun, mayLack };
    const charge = (claims: number): ReturnType<Admitted['charge']> => admitted.charge(claims * smallEventBytes);
    const owe = (claims: number): void => {
      admitted.owe(claims * smallEventBytes);
    };
    const claimed = await claimValues({ log: this.#log, clock, uuid, charge, owe }, wanted);
    if (claimed.outcome !== 'claimed') return this.#refuseValues(target, claimed, subject);
    if (dryRun) return this.#folded.confirm(target, proposal.decision);
    const whole = lackingIn(proposal, claimed.lacking, proposing);
    return shownOnce(await this.#append(target, whole, writing), given.kept);
  }

  #refuseValues(target: Target, refused: ValuesRefused, subject: Subject): Attempt | Promise<Attempt> {
    const { rules } = this.#dependencies;
    if (refused.outcome === 'taken')
      return this.#folded.confirm(target, refuseTaken({ ...target, ...refused }, subject, rules));
    return refused.outcome === 'limited' ? refused.refusal : unavailable();
  }

  /** Refuses a value that another object holds without a claim, if the log confirms the other object's state. */
  #refuseStored(target: Target, { entry }: Made, { given, by }: Writing): Promise<Attempt | undefined> | undefined {
    const { type, name } = target;
    const ports = { log: this.#log, reader: this.#dependencies.reader };
    const seeking = storedHolder(ports, { type, name, before: storedIn(target), after: entry, by });
    return seeking && this.#refuseHeld(target, seeking, given.context);
  }

  async #refuseHeld(
    target: Target,
    seeking: Promise<StoredHolder | undefined>,
    { subject }: WriteContext,
  ): Promise<Attempt | undefined> {
    const holder = await seeking;
    if (holder === undefined) return undefined;
    const stream = streamOf(target.type, holder.name);
    const head = await this.#log.readLast(stream);
    if (head !== undefined && head.revision > holder.revision) return this.#folded.reach(head.position);
    return this.#folded.confirm(
      target,
      refuseTaken({ type: target.type, value: holder.value, holder: stream }, subject, this.#dependencies.rules),
    );
  }

  /** Checks the change against the writer's rights, in the turn of the decision. */
  #check(target: Target, { event, object, withheld }: Made, { subject }: WriteContext): RuleCheck {
    return this.#dependencies.rules.check({
      type: target.type,
      subject,
      isNewPassword: withheld?.kind === 'password',
      before: storedIn(target),
      after: event.type === 'ObjectDeletionRequested' ? undefined : object,
    });
  }

  /**
   * Stores the secret before the object's event, so that no event refers to a missing secret. The command must then be
   * decided again.
   */
  async #keep(withheld: Withheld, { object }: Made, { given, metadata }: Writing): Promise<Attempt> {
    const limited = given.admitted.charge(smallEventBytes);
    if (limited !== undefined) return limited;
    const signal = given.context.signal?.();
    const kept = await this.#dependencies.secrets.keep(withheld, { uid: object.metadata.uid, metadata, signal });
    if (!kept.ok) return kept.busySeconds === undefined ? unavailable() : tooManyHashes(kept.busySeconds);
    given.kept = kept.kept;
    return 'again';
  }

  async #append(target: Target, { events, decision }: Proposal, { given, by }: Writing): Promise<Attempt> {
    const { declarations, unsettled } = this.#dependencies;
    const {
      type: { key },
      name,
      stream,
    } = target;
    if (!isStillDecidedBy(declarations, target.type, by)) return 'again';
    if (unsettled?.hasRoom() === false) return unavailable();
    given.guard?.spend();
    given.intent?.spend();
    const expected = expectedOf(target.state);
    const appending = this.#log.append(stream, events, expected);
    const outcome = await (unsettled === undefined
      ? appending
      : unsettled.track({ type: key, name, stream, expected, by }, appending));
    if (!outcome.ok) {
      if (outcome.reason !== 'conflict') return unavailable();
      const head = await this.#log.readLast(target.stream);
      const waited = head === undefined ? 'again' : await this.#folded.reach(head.position);
      return waited === 'again' ? 'lost' : waited;
    }
    const waited = await this.#folded.reach(outcome.position);
    if (waited !== 'again') return waited;
    const { metadata } = decision.object;
    const bytes = answerOf(events, { ...outcome, stream: target.stream });
    return {
      ok: true,
      bytes,
      version: metadata.version,
      name: metadata.name,
      appended: true,
      warnings: decision.warnings,
    };
  }
}

function metadataOf({ cause, causedBy }: WriteContext, time: string, by: DecidedBy): EventMetadata {
  return {
    ...cause,
    time,
    schema: eventSchema,
    $correlationId: causedBy?.correlationId ?? cause.requestId,
    ...(causedBy === undefined ? {} : { $causationId: causedBy.id }),
    ...(by === undefined ? {} : { declared: by.revision }),
  };
}

/** The commands that the rules do not check: only the platform's code sends them, and they change no grants. */
const isUnchecked: Readonly<Record<Command['type'], boolean>> = {
  create: false,
  replace: false,
  patch: false,
  delete: false,
  restore: false,
  find: true,
  collect: true,
  fence: true,
};
