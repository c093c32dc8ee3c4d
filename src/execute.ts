import { delay, type Clock } from './base/clock.ts';
import { claimValue, holderElsewhere, type ClaimResult } from './claims.ts';
import type { Command, WriteContext, WriteOutcome } from './command/command.ts';
import { decide, nameOf, type Decision } from './command/decide.ts';
import type { Facts } from './command/facts.ts';
import { eventSchema, type EventMetadata, type HeldValue, type ObjectEvent } from './command/event.ts';
import { initialState, type State } from './command/evolve.ts';
import type { Rejection } from './command/rejection.ts';
import type { Kept, Withheld } from './command/strategy.ts';
import { freshnessWaitMs, generateNameAttemptsMax, objectBytesMax, writeAttemptsMax, writesInFlightMax } from './limits.ts';
import { answerBytes, decodeEvent, encodeEvent, isObjectEvent } from './log/event-codec.ts';
import { LogCorruptError, streamName, type AppendOutcome, type EventLog, type ExpectedRevision, type LogPosition, type ProposedEvent, type RecordedEvent, type StreamName } from './log/log.ts';
import type { ObjectReader } from './read/objects.ts';
import { nameProblem } from './resource/names.ts';
import type { ResourceType } from './resource/resource-type.ts';
import { storedObject, withToken } from './resource/shown-object.ts';
import type { Judged, SecretKeeper, WriteRules } from './write-rules.ts';

/** The one door for writes: HTTP, plugins and reconcilers alike. */
export type Execute = (type: ResourceType, command: Command, context: WriteContext) => Promise<WriteOutcome>;

export type WriteDoorDependencies = {
  readonly log: EventLog;
  readonly reader: ObjectReader;
  readonly clock: Clock;
  readonly domain: string;
  readonly uuid: () => string;
  /** Five characters of `[a-z0-9]` for generated names. */
  readonly suffix: () => string;
  /** The latest time that a folded event is of, in epoch milliseconds: no later event is stamped earlier. */
  readonly lastEventTime: () => number;
  /** Of the platform's own types. */
  readonly rules: WriteRules;
  readonly secrets: SecretKeeper;
};

/** One try at a command: what was decided on, and what came of it. `again`: the state moved on, decide anew. */
type Attempt = WriteOutcome | 'again';

/** What every try at one command has in common. */
type Given = {
  readonly uid: string;
  /** The characters a drawn name ends in; another draw after a collision. */
  suffix: string;
  readonly context: WriteContext;
  /** What was withheld from this write, once it is kept. */
  kept?: Kept;
};

/** A decision that there is an event of. */
type Made = Extract<Decision, { readonly event: ObjectEvent }>;

type Target = { readonly type: ResourceType; readonly name: string; readonly stream: StreamName; readonly state: State };

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
  /** The dependencies' log, whose failed reads are told apart from bugs. */
  readonly #log: Pick<EventLog, 'append' | 'readLast'>;
  /** Epoch milliseconds of the latest stamp given: time never runs backwards within the log. */
  #lastTime = 0;
  /** Commands being executed. */
  #inFlight = 0;

  constructor(dependencies: WriteDoorDependencies) {
    this.#dependencies = dependencies;
    const { log } = dependencies;
    this.#log = { append: async (...call) => log.append(...call), readLast: async (stream) => readLastOf(log, stream) };
  }

  async execute(type: ResourceType, command: Command, context: WriteContext): Promise<WriteOutcome> {
    if (this.#inFlight >= writesInFlightMax) return rejected({ reason: 'too-many-requests', detail: 'too many writes are waiting for the log', retryAfterSeconds: 1 });
    this.#inFlight += 1;
    try {
      return await this.#decideUntilSettled(type, command, context);
    } catch (error) {
      if (error instanceof LogUnreadableError) return rejected(unavailable());
      throw error;
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #decideUntilSettled(type: ResourceType, command: Command, context: WriteContext): Promise<WriteOutcome> {
    const generated = isGenerated(command);
    const given: Given = { uid: this.#dependencies.uuid(), suffix: generated ? this.#dependencies.suffix() : '', context };
    let draws = 1;
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const outcome = await this.#attempt(type, command, given);
      if (outcome === 'again') continue;
      const collided = !outcome.ok && outcome.rejection.reason === 'already-exists' && generated;
      if (!collided || draws === generateNameAttemptsMax) return outcome;
      given.suffix = this.#dependencies.suffix();
      draws += 1;
    }
    return rejected({ reason: 'stale-version', detail: `the object kept changing: gave up after ${String(writeAttemptsMax)} attempts` });
  }

  async #attempt(type: ResourceType, command: Command, given: Given): Promise<Attempt> {
    const { context } = given;
    const name = (command.type === 'create' ? nameOf(command.object, given.suffix) : command.name) ?? '';
    const now = this.#now();
    const facts: Facts = {
      type, now, uid: given.uid, suffix: given.suffix,
      domain: this.#dependencies.domain, origin: context.origin, fieldValidation: context.fieldValidation, subject: context.subject,
      strategy: this.#dependencies.rules.strategyOf(type.key), kept: given.kept,
    };
    // What can name no object is not looked up: neither the log nor the tables take it as a key.
    if (nameProblem(name) !== undefined) return refusalOf(decide(initialState, command, facts), name);
    const target: Target = { type, name, stream: streamName(`object:${type.key}/${name}`), state: this.#state(type, name) };
    const decision = decide(target.state, command, facts);
    if (!decision.ok || decision.event === undefined) return this.#confirm(target, decision);
    const judged = command.type === 'collect' ? permitted : this.#judge(target, decision, context);
    if (!judged.ok) return judged;
    try {
      return await this.#carryOut(target, decision, given, now);
    } finally {
      judged.release?.();
    }
  }

  async #carryOut(target: Target, decision: Made, given: Given, now: string): Promise<Attempt> {
    const { type, name } = target;
    const { context } = given;
    const metadata: EventMetadata = { ...context.cause, time: now, schema: eventSchema, $correlationId: context.cause.requestId };
    if (decision.withheld !== undefined && !context.dryRun) return this.#keep(decision.withheld, decision, { given, metadata });
    const proposed = encodeEvent(this.#dependencies.uuid(), decision.event, metadata, decision.entry && { fingerprint: type.fingerprint, entry: decision.entry });
    if (proposed.data.length > objectBytesMax) return this.#confirm(target, { ok: false, rejection: tooLarge(proposed.data.length) });
    const refused = await this.#claim(target, decision.event, { metadata, dryRun: context.dryRun });
    if (refused !== undefined) return refused;
    if (context.dryRun) return { ok: true, bytes: Buffer.from(JSON.stringify(decision.object)), version: decision.object.metadata.version, name, appended: false, warnings: decision.warnings };
    const outcome = await this.#append(target, { proposed, decision });
    return outcome === 'again' || !outcome.ok || given.kept?.token === undefined ? outcome : { ...outcome, bytes: withToken(outcome.bytes, given.kept.token) };
  }

  /** Against what the writer holds in this very turn. */
  #judge({ type, state }: Target, { event, object, withheld }: Made, { subject }: WriteContext): Judged {
    return this.#dependencies.rules.judge({
      type: type.key, subject, isNewPassword: withheld?.kind === 'password',
      before: state.kind === 'live' ? state.object : undefined, after: event.type === 'ObjectDeletionRequested' ? undefined : object,
    });
  }

  /** Kept first, so that no object's event names what is not there; then the command is decided anew. */
  async #keep(withheld: Withheld, { object }: Made, { given, metadata }: { readonly given: Given; readonly metadata: EventMetadata }): Promise<Attempt> {
    const kept = await this.#dependencies.secrets.keep(withheld, { uid: object.metadata.uid, metadata });
    if (!kept.ok) return rejected(unavailable());
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
    const { metadata } = decision.object;
    const stored = this.#dependencies.reader.get(target.type.key, metadata.name);
    if (stored === undefined || stored.revision !== metadata.version) return 'again';
    return { ok: true, bytes: stored.bytes, version: metadata.version, name: metadata.name, appended: false, warnings: decision.warnings };
  }

  /** Claims every unique value the event newly holds, in sorted order; undefined when the append may go out. */
  async #claim(target: Target, event: ObjectEvent, { metadata, dryRun }: { readonly metadata: EventMetadata; readonly dryRun: boolean }): Promise<Attempt | undefined> {
    if (event.values.length === 0) return undefined;
    const { clock, uuid } = this.#dependencies;
    const log = this.#log;
    const base = expectedOf(target.state);
    for (const value of await this.#newlyHeld(target, event)) {
      const claim = { type: target.type.key, value, me: target.stream, base };
      let result: ClaimResult;
      if (dryRun) {
        const holder = await holderElsewhere(log, claim);
        result = holder === undefined ? { outcome: 'claimed' } : { outcome: 'taken', holder };
      } else {
        result = await claimValue({ log, clock, uuid, metadata: () => metadata }, claim);
      }
      if (result.outcome === 'taken') return this.#confirm(target, { ok: false, rejection: taken(target.type, value, result.holder) });
      if (result.outcome === 'unavailable') return rejected(unavailable());
    }
    return undefined;
  }

  /** The event's values less those the object's last event holds: judged from events, not by running index functions. */
  async #newlyHeld(target: Target, event: ObjectEvent): Promise<readonly HeldValue[]> {
    if (target.state.kind !== 'live') return event.values;
    const last = await this.#log.readLast(target.stream);
    const before = last === undefined ? undefined : decodeEvent(last).event;
    if (before === undefined || !isObjectEvent(before)) return event.values;
    const held = new Set(before.values.map(({ index, hash }) => `${index}/${hash}`));
    return event.values.filter(({ index, hash }) => !held.has(`${index}/${hash}`));
  }

  async #append(target: Target, { proposed, decision }: { readonly proposed: ProposedEvent; readonly decision: Made }): Promise<Attempt> {
    const expected = expectedOf(target.state);
    const outcome = await this.#appendUntilKnown(target.stream, proposed, expected);
    if (!outcome.ok) {
      if (outcome.reason !== 'conflict') return rejected(unavailable());
      const head = await this.#log.readLast(target.stream);
      return head === undefined ? 'again' : this.#awaitFold(head.position);
    }
    const waited = await this.#awaitFold(outcome.position);
    if (waited !== 'again') return waited;
    const { metadata } = decision.object;
    const bytes = answerBytes(decodeEvent({ ...proposed, stream: target.stream, revision: outcome.revision, position: outcome.position }), proposed.data, outcome.position.toString());
    return { ok: true, bytes, version: metadata.version, name: metadata.name, appended: true, warnings: decision.warnings };
  }

  /** An unknown outcome is settled by the same event at the same revision, which the log takes at most once. */
  async #appendUntilKnown(stream: StreamName, proposed: ProposedEvent, expected: ExpectedRevision): Promise<AppendOutcome> {
    const { log, clock } = this.#dependencies;
    let outcome = await log.append(stream, [proposed], expected);
    for (let attempt = 1; !outcome.ok && outcome.reason === 'unknown' && attempt < writeAttemptsMax; attempt += 1) {
      await delay(clock, Math.min(2 ** attempt, 250));
      outcome = await log.append(stream, [proposed], expected);
    }
    return outcome;
  }

  async #awaitFold(position: LogPosition): Promise<Attempt> {
    const { reader } = this.#dependencies;
    if (reader.position() >= position) return 'again';
    const reached = await reader.reached(position, { timeoutMs: freshnessWaitMs * 4 });
    return reached === 'reached' ? 'again' : rejected(unavailable());
  }

  #now(): string {
    const { clock, lastEventTime } = this.#dependencies;
    this.#lastTime = Math.max(clock.now(), this.#lastTime, lastEventTime());
    return new Date(this.#lastTime).toISOString();
  }
}

const permitted: Judged = { ok: true };

/** A read of the log that failed: 503, as when it takes no append. */
class LogUnreadableError extends Error {}

async function readLastOf(log: EventLog, stream: StreamName): Promise<RecordedEvent | undefined> {
  try {
    return await log.readLast(stream);
  } catch (cause) {
    if (cause instanceof LogCorruptError) throw cause;
    throw new LogUnreadableError(`${stream} cannot be read`, { cause });
  }
}

function refusalOf(decision: Decision, name: string): WriteOutcome {
  if (decision.ok) throw new Error(`invariant broken: an object called ${JSON.stringify(name)} was accepted`);
  return decision;
}

function expectedOf(state: State): ExpectedRevision {
  return state.kind === 'absent' ? 'absent' : state.revision;
}

function isGenerated(command: Command): boolean {
  return command.type === 'create' && nameOf(command.object, 'a') !== nameOf(command.object, 'b');
}

function rejected(rejection: Rejection): WriteOutcome {
  return { ok: false, rejection };
}

function unavailable(): Rejection {
  return { reason: 'unavailable', detail: 'the event log cannot be reached; the write may land later, once', retryAfterSeconds: 1 };
}

function tooLarge(bytes: number): Rejection {
  const detail = `the object must be at most ${String(objectBytesMax)} bytes, is ${String(bytes)}`;
  return { reason: 'invalid', detail, violations: [{ pointer: '', detail }] };
}

function taken(type: ResourceType, value: HeldValue, holder: StreamName): Rejection {
  const name = holder.slice(holder.lastIndexOf('/') + 1);
  const detail = `${value.index} must be unique among ${type.plural}: "${name}" has this value`;
  return { reason: 'unique-value-taken', detail, violations: [{ pointer: `/${value.index.replaceAll('.', '/')}`, detail }] };
}
