import type { Command, WriteContext, WriteOutcome } from '../command/command.ts';
import { decide, isNameDrawn, nameOf, type Decision } from '../command/decide.ts';
import type { Facts } from '../command/facts.ts';
import { eventSchema } from '../command/event.ts';
import { expectedOf, initialState, type State } from '../command/evolve.ts';
import type { Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import { objectBytesMax } from '../limits/objects.ts';
import { smallEventBytes, writeFoldWaitMs } from '../limits/writes.ts';
import type { AppendOutcome, LogPosition, StreamName } from '../log/log.ts';
import { nameProblem } from '../resource/type/names.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { storedObject } from '../resource/object/shown-object.ts';
import type { Judged } from './rules.ts';
import { LogUnreadableError, settlingLog, type WriterLog } from './retrying-log.ts';
import { Admission, type Admitted } from './admission/admission.ts';
import { settleAttempts, type Attempt } from './attempts.ts';
import { decidedBy, isStillDecidedBy, type DecidedBy } from './declared.ts';
import type { Given, WriteDoorDependencies, Writing } from './door-types.ts';
import { HeldGuard } from './guard.ts';
import { HeldBytes } from './admission/held-bytes.ts';
import { refusalOf, shownOnce } from './outcomes.ts';
import { answerOf, lackingIn, propose, sizeOf, type Made, type Proposal } from './proposal.ts';
import { diskShort, taken, tooLarge, tooMany, tooManyHashes, unavailable } from './refusals.ts';
import { isHeldBack } from './storage.ts';
import { Stamps } from './stamps.ts';
import { baseOf, storedIn, streamOf, type Target } from './target.ts';
import { Turns, type Leave } from './object-queue.ts';
import { claimValues, heldOnItsWayOut, storedHolder, type ValuesRefused } from './values.ts';
import { Writers } from './admission/writers.ts';

/** The write path: used by HTTP, plugins and reconcilers alike. */
export type Execute = (type: ResourceType, command: Command, context: WriteContext) => Promise<WriteOutcome>;

/**
 * Reads the state, decides, appends at the revision read, and waits until this node's read models have folded the
 * append. An append with unknown outcome is retried with the very same event; the command is decided again only after
 * the append is known to have failed.
 */
export function createWriteDoor(dependencies: WriteDoorDependencies): Execute {
  const door = new WriteDoor(dependencies);
  return async (type, command, context) => door.execute(type, command, context);
}

class WriteDoor {
  readonly #dependencies: WriteDoorDependencies;
  /** The log, with unknown outcomes resolved. */
  readonly #log: WriterLog;
  readonly #turns: Turns;
  readonly #admission: Admission;
  readonly #stamps: Stamps;

  constructor(dependencies: WriteDoorDependencies) {
    this.#dependencies = dependencies;
    this.#log = settlingLog(dependencies.log, dependencies.clock);
    this.#turns = new Turns(dependencies.clock);
    const { clock, held = new HeldBytes(), writers = Writers.unlimited(clock) } = dependencies;
    this.#stamps = new Stamps(dependencies);
    this.#admission = new Admission({ clock, held, writers });
  }

  async execute(type: ResourceType, command: Command, context: WriteContext): Promise<WriteOutcome> {
    const admitted = this.#admission.enter(context);
    if ('rejection' in admitted) return admitted;
    let leave: Leave | undefined;
    let outcome: WriteOutcome | undefined;
    try {
      // Writes of an existing object queue: concurrent ones would nearly all lose each race.
      const isOrdered = command.type !== 'create' && nameProblem(command.name) === undefined;
      const taken = isOrdered ? this.#turns.take(streamOf(type, command.name), admitted.writer) : unordered;
      if (taken === undefined) return tooMany('too many writes to this object are queued');
      leave = typeof taken === 'function' ? taken : await taken;
      outcome = await this.#decideUntilSettled(type, command, { context, admitted });
      return outcome;
    } catch (error) {
      if (error instanceof LogUnreadableError) return unavailable();
      throw error;
    } finally {
      leave?.();
      this.#admission.leave(admitted, outcome);
    }
  }

  async #decideUntilSettled(type: ResourceType, command: Command, entered: Pick<Given, 'context' | 'admitted'>): Promise<WriteOutcome> {
    const { clock, uuid, suffix } = this.#dependencies;
    const isDrawn = isNameDrawn(command);
    const given: Given = { uid: uuid(), suffix: isDrawn ? suffix() : '', ...entered };
    const redraw = isDrawn ? (): void => { given.suffix = suffix(); } : undefined;
    try {
      return await settleAttempts(async () => this.#attempt(type, command, given), { clock, uid: given.uid, redraw });
    } finally {
      await given.guard?.end();
    }
  }

  async #attempt(type: ResourceType, command: Command, given: Given): Promise<Attempt> {
    const { context } = given;
    const name = (command.type === 'create' ? nameOf(command.object, given.suffix) : command.name) ?? '';
    const refused = this.#stamps.refusal();
    if (refused !== undefined) return refused;
    const decided = decidedBy(this.#dependencies.declarations, type);
    if (!decided.ok) return decided;
    const { by } = decided;
    const now = this.#stamps.next();
    const facts: Facts = {
      type, onceUnique: this.#dependencies.declarations?.onceUnique(type.key), now, uid: given.uid, suffix: given.suffix,
      domain: this.#dependencies.domain, origin: context.origin, fieldValidation: context.fieldValidation, subject: context.subject,
      strategy: this.#dependencies.rules.strategyOf(type.key), kept: given.kept,
    };
    // An invalid name is not looked up: neither the log nor the tables accept it as a key.
    if (nameProblem(name) !== undefined) return refusalOf(decide(initialState, command, facts), name);
    const target: Target = { type, name, stream: streamOf(type, name), state: this.#state(type, name) };
    const decision = decide(target.state, command, facts);
    if (!decision.ok || decision.event === undefined) return this.#confirm(target, decision);
    const [isTrusted, isBegun] = [given.admitted.writer.kind === 'trusted', given.kept !== undefined];
    const write = { command, context, state: target.state, object: decision.object, isTrusted, isBegun };
    if (isHeldBack(this.#dependencies.disk, write)) return diskShort();
    const declared = by === undefined ? {} : { declared: by.revision };
    const metadata = { ...context.cause, time: now, schema: eventSchema, $correlationId: context.cause.requestId, ...declared };
    const writing = { given, metadata, by };
    return isUnjudged[command.type] ? this.#carryOut(target, decision, writing) : this.#judgeAndCarryOut(target, decision, writing);
  }

  async #judgeAndCarryOut(target: Target, decision: Made, writing: Writing): Promise<Attempt> {
    const { guard: held, context } = writing.given;
    const judged = this.#judge(target, decision, context);
    if (judged.guard !== undefined && !context.dryRun && held?.covers(judged.guard, baseOf(target)) !== true) {
      if (judged.ok) judged.release?.();
      return this.#takeGuard(judged.guard, target, writing);
    }
    if (!judged.ok) return this.#confirm(target, judged);
    try {
      return await this.#carryOut(target, decision, writing);
    } finally {
      judged.release?.();
    }
  }

  /** Decisions from before the guard was held are void: the command is decided again. */
  async #takeGuard(guard: StreamName, target: Target, { given, metadata }: Writing): Promise<Attempt> {
    const { clock, reader, uuid } = this.#dependencies;
    given.guard ??= new HeldGuard({
      log: this.#log, clock, reader, uuid, turns: this.#turns, writer: given.admitted.writer, foldWaitMs: writeFoldWaitMs,
    }, () => metadata);
    return await given.guard.take(guard, baseOf(target)) ? 'again' : unavailable();
  }

  async #carryOut(target: Target, decision: Made, writing: Writing): Promise<Attempt> {
    const { given, metadata, by } = writing;
    const { clock, uuid, appendBytesMax } = this.#dependencies;
    const { admitted, context: { dryRun, subject } } = given;
    if (decision.withheld !== undefined && !dryRun) return this.#keep(decision.withheld, decision, writing);
    const indexed = decision.entry && { fingerprint: target.type.fingerprint, entry: decision.entry };
    const proposing = { uuid, metadata, indexed, appendBytesMax };
    const proposal = propose(decision, proposing);
    const { bytes, largest } = sizeOf(proposal);
    const limited = admitted.takeEvents(proposal.events, { isTooLarge: largest > objectBytesMax });
    if (limited !== undefined) return limited;
    if (largest > objectBytesMax) return this.#confirm(target, tooLarge(largest));
    if (!dryRun) this.#dependencies.disk?.take(bytes);
    const stored = await this.#refuseStored(target, decision, { subject, by });
    if (stored !== undefined) return stored;
    const { type } = target;
    const mayLack = heldOnItsWayOut(type, storedIn(target), decision.object);
    const wanted = { ...baseOf(target), type, event: decision.event, metadata, by, dryRun, mayLack };
    const charge = (claims: number): ReturnType<Admitted['charge']> => admitted.charge(claims * smallEventBytes);
    const owe = (claims: number): void => { admitted.owe(claims * smallEventBytes); };
    const claimed = await claimValues({ log: this.#log, clock, uuid, charge, owe }, wanted);
    if (claimed.outcome !== 'claimed') return this.#refuseValues(target, claimed, subject);
    if (dryRun) return this.#confirm(target, proposal.decision);
    const whole = lackingIn(proposal, claimed.lacking, proposing);
    return shownOnce(await this.#append(target, whole, writing), given.kept);
  }

  #refuseValues(target: Target, refused: ValuesRefused, subject: Subject): Attempt | Promise<Attempt> {
    const { rules } = this.#dependencies;
    if (refused.outcome === 'taken') return this.#confirm(target, taken({ ...target, ...refused }, subject, rules));
    return refused.outcome === 'limited' ? refused.refusal : unavailable();
  }

  /** Refuses a value that another object holds without a claim, if the log confirms that it still does. */
  async #refuseStored(target: Target, { entry }: Made, { subject, by }: { readonly subject: Subject; readonly by: DecidedBy }): Promise<Attempt | undefined> {
    const { type, name } = target;
    const before = storedIn(target);
    const holder = await storedHolder({ log: this.#log, reader: this.#dependencies.reader }, { type, name, before, after: entry, by });
    if (holder === undefined) return undefined;
    const stream = streamOf(type, holder.name);
    const head = await this.#log.readLast(stream);
    if (head !== undefined && head.revision > holder.revision) return this.#awaitFold(head.position);
    return this.#confirm(target, taken({ type, value: holder.value, holder: stream }, subject, this.#dependencies.rules));
  }

  /** Checks the change against the writer's rights of this very turn. */
  #judge(target: Target, { event, object, withheld }: Made, { subject }: WriteContext): Judged {
    return this.#dependencies.rules.judge({
      type: target.type, subject, isNewPassword: withheld?.kind === 'password',
      before: storedIn(target), after: event.type === 'ObjectDeletionRequested' ? undefined : object,
    });
  }

  /** Stores the secret first, so that no event names a missing one; then the command is decided again. */
  async #keep(withheld: Withheld, { object }: Made, { given, metadata }: Writing): Promise<Attempt> {
    const limited = given.admitted.charge(smallEventBytes);
    if (limited !== undefined) return limited;
    const signal = given.context.gone?.();
    const kept = await this.#dependencies.secrets.keep(withheld, { uid: object.metadata.uid, metadata, signal });
    if (!kept.ok) return kept.busySeconds === undefined ? unavailable() : tooManyHashes(kept.busySeconds);
    given.kept = kept.kept;
    return 'again';
  }

  #state(type: ResourceType, name: string): State {
    const head = this.#dependencies.reader.head(type.key, name);
    if (head.kind !== 'live') return head;
    const { bytes, revision, position } = head.stored;
    return { kind: 'live', revision, position, object: storedObject(bytes) };
  }

  /**
   * Returns without an append. This is right only if this node has folded the object's whole stream, which the log
   * confirms (consistency protocol, 4).
   */
  async #confirm(target: Target, decision: Decision): Promise<Attempt> {
    const head = await this.#log.readLast(target.stream);
    const folded = target.state.kind === 'absent' ? -1 : target.state.revision;
    if (head !== undefined && head.revision > folded) return this.#awaitFold(head.position);
    if (!decision.ok) return decision;
    const { object, warnings } = decision;
    const { name, version } = object.metadata;
    if (decision.event !== undefined) return { ok: true, bytes: Buffer.from(JSON.stringify(object)), version, name, appended: false, warnings };
    const stored = this.#dependencies.reader.get(target.type.key, name);
    if (stored === undefined || stored.revision !== version) return 'again';
    return { ok: true, bytes: stored.bytes, version, name, appended: false, warnings };
  }

  async #append(target: Target, { events, decision }: Proposal, { given, by }: Writing): Promise<Attempt> {
    const { declarations, unsettled } = this.#dependencies;
    const { type: { key }, name, stream } = target;
    if (!isStillDecidedBy(declarations, target.type, by)) return 'again';
    if (unsettled?.hasRoom() === false) return unavailable();
    given.guard?.spend();
    const expected = expectedOf(target.state);
    const append = async (): Promise<AppendOutcome> => this.#log.append(stream, events, expected);
    const outcome = await (unsettled === undefined ? append() : unsettled.send({ type: key, name, stream, expected, by }, append));
    if (!outcome.ok) {
      if (outcome.reason !== 'conflict') return unavailable();
      const head = await this.#log.readLast(target.stream);
      const waited = head === undefined ? 'again' : await this.#awaitFold(head.position);
      return waited === 'again' ? 'lost' : waited;
    }
    const waited = await this.#awaitFold(outcome.position);
    if (waited !== 'again') return waited;
    const { metadata } = decision.object;
    const bytes = answerOf(events, { ...outcome, stream: target.stream });
    return { ok: true, bytes, version: metadata.version, name: metadata.name, appended: true, warnings: decision.warnings };
  }

  async #awaitFold(position: LogPosition): Promise<Attempt> {
    const { reader } = this.#dependencies;
    if (reader.position() >= position) return 'again';
    const reached = await reader.reached(position, { timeoutMs: writeFoldWaitMs });
    return reached === 'reached' ? 'again' : unavailable();
  }
}

/** The platform's own steps, which change nothing that anybody is granted. */
const isUnjudged: Readonly<Record<Command['type'], boolean>> = { create: false, replace: false, patch: false, delete: false, collect: true, fence: true };

const unordered: Leave = () => undefined;
