import type { Command, WriteContext, WriteOutcome } from '../command/command.ts';
import { decide, isNameDrawn, nameOf, type Decision } from '../command/decide.ts';
import type { Facts } from '../command/facts.ts';
import { eventSchema, type EventMetadata } from '../command/event.ts';
import { expectedOf, initialState, type State } from '../command/evolve.ts';
import type { Kept, Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import { objectBytesMax } from '../limits/objects.ts';
import { smallEventBytes, writeFoldWaitMs } from '../limits/writes.ts';
import type { EventLog, LogPosition, StreamName } from '../log/log.ts';
import type { DeclarationReader } from '../read/declarations.ts';
import type { ObjectReader } from '../read/objects.ts';
import { nameProblem } from '../resource/type/names.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { storedObject } from '../resource/object/shown-object.ts';
import type { Judged, SecretKeeper, WriteRules } from './rules.ts';
import { LogUnreadableError, settlingLog, type WriterLog } from './retrying-log.ts';
import { Admission, type Admitted } from './admission/admission.ts';
import { settleAttempts, type Attempt } from './attempts.ts';
import { decidedBy, isStillDecidedBy, type DecidedBy } from './declared.ts';
import { HeldGuard } from './guard.ts';
import { HeldBytes } from './admission/held-bytes.ts';
import { refusalOf, shownOnce } from './outcomes.ts';
import { answerOf, propose, sizeOf, type Made, type Proposal } from './proposal.ts';
import { diskShort, taken, tooLarge, tooMany, tooManyHashes, unavailable } from './refusals.ts';
import { isHeldBack, type WriterDisk } from './storage.ts';
import { Stamps, type StampsDependencies } from './stamps.ts';
import { baseOf, streamOf, type Target } from './target.ts';
import { Turns, type Leave } from './object-queue.ts';
import { claimValues, storedHolder, type ValuesRefused } from './values.ts';
import { Writers } from './admission/writers.ts';

/** The one door for writes: HTTP, plugins and reconcilers alike. */
export type Execute = (type: ResourceType, command: Command, context: WriteContext) => Promise<WriteOutcome>;

export type WriteDoorDependencies = StampsDependencies & {
  readonly log: EventLog;
  readonly reader: ObjectReader;
  /** Undefined: nothing is known of earlier declarations. */
  readonly declarations?: DeclarationReader;
  readonly domain: string;
  readonly uuid: () => string;
  /** Five characters of `[a-z0-9]` for generated names. */
  readonly suffix: () => string;
  /** Of the platform's own types. */
  readonly rules: WriteRules;
  readonly secrets: SecretKeeper;
  /** Undefined: nothing watches how much is free. */
  readonly disk?: WriterDisk;
  /** Who is limited, and how; without it everybody writes as the platform does. */
  readonly writers?: Writers;
  /** Of one append; undefined: what every log takes. */
  readonly appendBytesMax?: number;
  /** The memory that writes share with requests. */
  readonly held?: HeldBytes;
};

/** What every try at one command has in common. */
type Given = {
  readonly uid: string;
  /** The characters a drawn name ends in; another draw after a collision. */
  suffix: string;
  readonly context: WriteContext;
  readonly admitted: Admitted;
  /** What was withheld from this write, once it is kept. */
  kept?: Kept;
  /** Once the write needs one. */
  guard?: HeldGuard;
};

/** One write's own. */
type Writing = { readonly given: Given; readonly metadata: EventMetadata; readonly by: DecidedBy };

/**
 * Read state → decide → append at the revision read → wait until this node's read models hold it. An outcome that could
 * not be learnt is settled by sending the very same event again; it is never decided anew before it is disproved.
 */
export function createWriteDoor(dependencies: WriteDoorDependencies): Execute {
  const door = new WriteDoor(dependencies);
  return async (type, command, context) => door.execute(type, command, context);
}

class WriteDoor {
  readonly #dependencies: WriteDoorDependencies;
  /** The dependencies' log, whose unknown outcomes are settled. */
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
      // A command on a given object waits for the ones before it: left to race, nearly all would lose each round.
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
    // What can name no object is not looked up: neither the log nor the tables take it as a key.
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
    return command.type === 'collect' ? this.#carryOut(target, decision, writing) : this.#judgeAndCarryOut(target, decision, writing);
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

  /** What was judged before it was held counts for nothing: the command is decided anew. */
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
    const proposal = propose(decision, { uuid, metadata, indexed, appendBytesMax });
    const { bytes, largest } = sizeOf(proposal);
    const limited = admitted.takeEvents(proposal.events, { isTooLarge: largest > objectBytesMax });
    if (limited !== undefined) return limited;
    if (largest > objectBytesMax) return this.#confirm(target, tooLarge(largest));
    if (!dryRun) this.#dependencies.disk?.take(bytes);
    const stored = await this.#refuseStored(target, decision, subject);
    if (stored !== undefined) return stored;
    const wanted = { ...baseOf(target), type: target.type, event: decision.event, metadata, by, dryRun };
    const charge = (claims: number): ReturnType<Admitted['charge']> => admitted.charge(claims * smallEventBytes);
    const owe = (claims: number): void => { admitted.owe(claims * smallEventBytes); };
    const refused = await claimValues({ log: this.#log, clock, uuid, charge, owe }, wanted);
    if (refused !== undefined) return this.#refuseValues(target, refused, subject);
    if (dryRun) return this.#confirm(target, proposal.decision);
    return shownOnce(await this.#append(target, proposal, writing), given.kept);
  }

  #refuseValues(target: Target, refused: ValuesRefused, subject: Subject): Attempt | Promise<Attempt> {
    const { rules } = this.#dependencies;
    if (refused.outcome === 'taken') return this.#confirm(target, taken({ ...target, ...refused }, subject, rules));
    return refused.outcome === 'limited' ? refused.refusal : unavailable();
  }

  /** A value that another object has without a claim, if the log itself says that it has it still. */
  async #refuseStored(target: Target, { entry }: Made, subject: Subject): Promise<Attempt | undefined> {
    const { type, name, state } = target;
    const before = state.kind === 'live' ? state.object : undefined;
    const holder = await storedHolder({ log: this.#log, reader: this.#dependencies.reader }, { type, name, before, after: entry });
    if (holder === undefined) return undefined;
    const stream = streamOf(type, holder.name);
    const head = await this.#log.readLast(stream);
    if (head !== undefined && head.revision > holder.revision) return this.#awaitFold(head.position);
    return this.#confirm(target, taken({ type, value: holder.value, holder: stream }, subject, this.#dependencies.rules));
  }

  /** Against what the writer holds in this very turn. */
  #judge({ type, state }: Target, { event, object, withheld }: Made, { subject }: WriteContext): Judged {
    return this.#dependencies.rules.judge({
      type, subject, isNewPassword: withheld?.kind === 'password',
      before: state.kind === 'live' ? state.object : undefined, after: event.type === 'ObjectDeletionRequested' ? undefined : object,
    });
  }

  /** Kept first, so that no object's event names what is not there; then the command is decided anew. */
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
   * Answers without appending: right only if this node has folded all of the object's stream, which the log itself says
   * (consistency protocol, 4).
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
    if (!isStillDecidedBy(this.#dependencies.declarations, target.type, by)) return 'again';
    given.guard?.spend();
    const outcome = await this.#log.append(target.stream, events, expectedOf(target.state));
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

const unordered: Leave = () => undefined;
