import type { HeldValue } from '../../../src/resource/type/held-values.ts';
import { claimStream } from '../../../src/write/unique/unique-claims.ts';
import type { Command, WriteOutcome } from '../../../src/command/command.ts';
import { nameOf, type Decision } from '../../../src/command/decide.ts';
import type { ClaimEvent, ObjectEvent } from '../../../src/command/event.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { State } from '../../../src/command/evolve.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from '../../../src/log/event-codec.ts';
import { streamName, type StreamName } from '../../../src/log/log.ts';
import { bytesOf } from '../../../src/write/proposal.ts';
import { checkTime } from './check-time.ts';
import { isReferenceJustified, referenceRefusal } from './checks-references.ts';
import { nameOfStream, type Step } from '../history.ts';
import { verdictOf } from '../clients/sim-client.ts';
import { streamOf, suffixes, type, valuesOf, type Invocation, type World } from '../world.ts';

/** Invariants 1 to 5 and 10, on what stands in the log once a run is over, and on what its clients were answered. */
export function checkHistory(world: World): void {
  const invocations = new Map(world.invocations.map((invocation) => [invocation.id, invocation]));
  const own = new Map<string, Step[]>();
  for (const steps of world.history.streams.values()) {
    for (const step of steps) {
      checkStep(step, invocations, world);
      if (step.event.type === 'NameFenced' || !step.recorded.endsAppend) continue;
      own.set(step.metadata.requestId, [...(own.get(step.metadata.requestId) ?? []), step]);
    }
  }
  checkValues(world);
  for (const invocation of world.invocations) checkAnswer(invocation, own.get(invocation.id) ?? [], world);
}

/** 2, 10: what stands is what deciding on the very state before it gives. */
function checkStep(step: Step, invocations: ReadonlyMap<string, Invocation>, world: World): void {
  const { coverage } = world;
  const { recorded, event, before } = step;
  const where = `${recorded.stream}@${String(recorded.revision)}`;
  if (!saysItsValues(step, world)) throw new Error(`${where} does not hold the values it says`);
  if (event.object !== undefined && event.object.metadata.version !== recorded.revision)
    throw new Error(`${where} says it is version ${String(event.object.metadata.version)}`);
  coverage.note(`event ${event.type}`);
  if (event.type === 'NameFenced') {
    checkFence(step, world);
    return;
  }
  checkTime(step, invocations.get(step.metadata.requestId), world);
  const { requestId } = step.metadata;
  const marking = markingOf(step, world);
  const commands = commandsOf(step, invocations, world);
  if (commands.length === 0) throw new Error(`${where} was written by nobody: ${requestId}`);
  const facts = { now: step.metadata.time, uid: event.object.metadata.uid, suffix: recorded.stream.slice(-5) };
  const { version } = invocations.get(requestId) ?? {};
  const state = marking?.before ?? before;
  const decisions = commands.flatMap((command) => world.judge.decisions({ state, command, facts, version }, step));
  const textOf = (each: ObjectEvent): string => JSON.stringify([each.type, each.object, valuesIn(each, world)]);
  const decision = decisions.find((each) => {
    const decided = decidedOf(each, marking === undefined ? 'event' : 'removal');
    return decided !== undefined && textOf(decided) === textOf(event);
  });
  if (decision === undefined)
    throw new Error(
      `${where} was not decided on what stands before it:\n${JSON.stringify(event)}\n${JSON.stringify(decisions)}`,
    );
  checkWhole(step, decision, world);
}

function commandsOf(step: Step, invocations: ReadonlyMap<string, Invocation>, { judge }: World): readonly Command[] {
  const { recorded, before, metadata } = step;
  const { requestId } = metadata;
  if (requestId.startsWith('collector ')) {
    const uid = before.kind === 'live' ? before.object.metadata.uid : '';
    return [{ type: 'collect', name: nameOfStream(recorded.stream), uid }];
  }
  const command = invocations.get(requestId)?.command;
  return command === undefined ? judge.commandsOf(step) : [command];
}

/**
 * With releases, marked objects may lack values claimed by others, and no claim exists for a serial that was never
 * unique.
 */
function saysItsValues({ event }: Step, { releases }: World): boolean {
  const values = event.object === undefined || event.type === 'ObjectDeleted' ? [] : valuesOf(event.object);
  if (JSON.stringify(event.values) === JSON.stringify(values)) return true;
  const isLeaving = event.object?.metadata.deletionTimestamp !== undefined;
  const lacking = values.filter(
    ({ index, hash }) => !event.values.some((held) => held.index === index && held.hash === hash),
  );
  return (
    releases !== undefined &&
    event.values.length + lacking.length === values.length &&
    (isLeaving || lacking.every(({ index }) => index === 'spec.serial'))
  );
}

/** Where there are releases, what an event says is held depends on what its node knew; it is checked above. */
function valuesIn({ values }: ObjectEvent, { releases }: World): readonly HeldValue[] {
  return releases === undefined ? values : [];
}

function decidedOf(decision: Decision, which: 'event' | 'removal'): ObjectEvent | undefined {
  return decision.ok && decision.event !== undefined ? decision[which] : undefined;
}

/** The event that begins the append which this one ends. */
function markingOf({ recorded, metadata }: Step, { history }: World): Step | undefined {
  const previous = history.steps(recorded.stream)[recorded.revision - 1];
  if (previous?.recorded.endsAppend !== false) return undefined;
  if (previous.metadata.requestId === metadata.requestId) return previous;
  throw new Error(`${recorded.stream}@${String(recorded.revision)} ends another write's append`);
}

/** A marked object without finalizers exists only where the removal did not fit beside it. */
function checkWhole({ recorded, event, metadata }: Step, decision: Decision, world: World): void {
  const { coverage, appendBytesMax } = world;
  const where = `${recorded.stream}@${String(recorded.revision)}`;
  const removed = decidedOf(decision, 'removal');
  if (removed === undefined || event.type === 'ObjectDeleted') {
    if (!recorded.endsAppend) throw new Error(`${where} is followed in its append by an event that was not decided`);
    return;
  }
  coverage.note(recorded.endsAppend ? 'marked alone' : 'marked and removed');
  const removal = encodeEvent(recorded.id, removed, metadata);
  const fits = bytesOf(recorded) + bytesOf(removal) <= (appendBytesMax ?? Infinity);
  if (fits === recorded.endsAppend) throw new Error(`${where} ${fits ? 'lacks its removal' : 'exceeds one append'}`);
}

function checkFence(step: Step, { judge }: World): void {
  const { recorded, event, before } = step;
  const forms: readonly (ResourceObject | undefined)[] =
    before.kind === 'live' ? judge.repetitionsOf(step) : [undefined];
  const isRepeated = forms.some((form) => {
    const repeated = form && { ...form, metadata: { ...form.metadata, version: recorded.revision } };
    return JSON.stringify(event.object) === JSON.stringify(repeated);
  });
  if (!isRepeated) throw new Error(`the fence ${recorded.stream}@${String(recorded.revision)} changed something`);
}

/** 1: at no instant do two objects hold one value, and the holder is the one in the claim. */
function checkValues({ shared, history, coverage, releases }: World): void {
  if (releases !== undefined) return;
  const claims = new Map<StreamName, ClaimEvent>();
  const held = new Map<StreamName, StreamName>();
  const claimedBy = new Map<string, Set<StreamName>>();
  for (const recorded of shared.events) {
    const { stream } = recorded;
    if (stream.startsWith('object:')) {
      hold(held, history.steps(stream)[recorded.revision]!);
      held.forEach((holder, value) => {
        if (holder === stream) checkClaim(value, claims.get(value), stream);
      });
    } else if (stream.startsWith('claim:')) {
      const { event } = decodeEvent(recorded);
      if (event.type !== 'ValueClaimed' && event.type !== 'ValueReleased')
        throw new Error(`${stream} holds a ${event.type}`);
      if (event.type === 'ValueReleased')
        coverage.note(decodeMetadata(recorded).requestId.startsWith('claims ') ? 'claim settled' : 'claim given up');
      if (event.type === 'ValueClaimed') noteClaim(claimedBy, decodeMetadata(recorded).requestId, stream);
      claims.set(stream, event);
      checkClaim(stream, event, held.get(stream));
    }
  }
  coverage.note('a write claims several values', [...claimedBy.values()].filter(({ size }) => size > 1).length);
}

function noteClaim(claimedBy: Map<string, Set<StreamName>>, requestId: string, value: StreamName): void {
  claimedBy.set(requestId, (claimedBy.get(requestId) ?? new Set()).add(value));
}

/** Claims that name a holder which does not hold the value. */
export function unsettledClaims({ shared, history, coverage }: World): readonly StreamName[] {
  const unsettled = [...shared.streams].filter(([stream, events]) => {
    const last = stream.startsWith('claim:') ? events.at(-1) : undefined;
    if (last === undefined) return false;
    const { event } = decodeEvent(last);
    if (event.type !== 'ValueClaimed') return false;
    const values = history.steps(event.holder as StreamName).at(-1)?.event.values ?? [];
    return !values.some((value) => claimStream(type.key, value) === stream);
  });
  if (unsettled.length === 0) coverage.note('all claims are settled');
  return unsettled.map(([stream]) => stream);
}

/** How often another node than before led. */
export function countTakeovers({ shared, coverage }: World): void {
  let before: string | undefined;
  for (const recorded of shared.stream(streamName('lease:reconcilers'))) {
    const { event } = decodeEvent(recorded);
    if (event.type === 'LeaseReleased') coverage.note('lease released');
    if (event.type !== 'LeaseHeld') continue;
    if (before !== undefined && before !== event.holder) coverage.note('lease taken over');
    before = event.holder;
  }
}

function hold(held: Map<StreamName, StreamName>, { recorded: { stream, position }, event }: Step): void {
  const values = event.values.map((value) => claimStream(type.key, value));
  for (const [value, holder] of held) if (holder === stream && !values.includes(value)) held.delete(value);
  for (const value of values) {
    const other = held.get(value) ?? stream;
    if (other !== stream) throw new Error(`from ${position.toString()} on both ${other} and ${stream} hold ${value}`);
    held.set(value, stream);
  }
}

function checkClaim(value: StreamName, claim: ClaimEvent | undefined, holder: StreamName | undefined): void {
  if (holder === undefined) return;
  if (claim?.type !== 'ValueClaimed' || claim.holder !== holder)
    throw new Error(`${holder} holds ${value}, and its claim says ${JSON.stringify(claim)}`);
}

/** 3, 4, 5. */
function checkAnswer(invocation: Invocation, own: readonly Step[], world: World): void {
  const { id, outcome } = invocation;
  const verdict = verdictOf(outcome);
  const wrong = (detail: string): never => {
    throw new Error(
      `${id} (${JSON.stringify(invocation.command)}) was answered ${verdict}` +
        `${outcome?.ok === false ? ` (${outcome.rejection.detail})` : ''} from ${String(invocation.invoked)} to ` +
        `${String(invocation.answered)}: ${detail}`,
    );
  };
  if (own.length > 1) wrong(`it stands ${String(own.length)} times`);
  const [step] = own;
  if (step !== undefined && step.landed < invocation.invoked) wrong('it stood before it was sent');
  if (outcome === undefined) return;
  if (outcome.ok && outcome.appended) {
    if (step === undefined) return wrong('it stands nowhere');
    if (step.landed > invocation.answered) wrong('it landed only after its answer');
    if (!world.judge.isAnswer(step, outcome.bytes, invocation))
      wrong(`it answers another object than stands there: ${Buffer.from(outcome.bytes).toString()}`);
    return;
  }
  if (!outcome.ok && outcome.rejection.reason === 'unavailable') {
    if (step !== undefined) world.coverage.note('503, and it stands all the same');
    return;
  }
  if (step !== undefined) wrong(`it stands at ${step.recorded.stream}@${String(step.recorded.revision)}`);
  if (!isJustified(invocation, outcome, world))
    wrong(`at no instant meanwhile was that so:\n${describe(invocation, world)}`);
}

function describe(invocation: Invocation, { history }: World): string {
  return namesOf(invocation)
    .flatMap((name) =>
      history.statesBetween(streamOf(name), invocation.invoked, invocation.answered).map((state) => {
        const { version, ...object } =
          state.kind === 'live' ? { version: state.revision, ...state.object } : { version: undefined };
        return `${name} ${state.kind} ${String(version)} ${JSON.stringify(object)}`;
      }),
    )
    .join('\n');
}

/**
 * 5: an answer that appended nothing was right at some instant between question and answer, or as long before it as
 * reads are stale.
 */
function isJustified(invocation: Invocation, outcome: WriteOutcome, world: World): boolean {
  if (!outcome.ok && outcome.rejection.detail.startsWith('the object changes too often')) {
    world.coverage.note('gave up on an object that kept changing');
    return world.staleMs > 0 || namesOf(invocation).some((name) => hasChanged(invocation, streamOf(name), world));
  }
  const refused = referenceRefusal(outcome);
  if (refused !== undefined) return isReferenceJustified(invocation, refused, world);
  const { answered } = invocation;
  const invoked = invocation.invoked - world.staleMs;
  return namesOf(invocation).some((name) => {
    const stream = streamOf(name);
    if (!outcome.ok && outcome.rejection.reason === 'unique-value-taken') return isTaken(invocation, stream, world);
    return world.history
      .statesBetween(stream, invoked, answered)
      .some((state) =>
        decisionsOn(state, invocation, name, world).some((decision) => answersSo(decision, state, outcome)),
      );
  });
}

function decisionsOn(
  state: State,
  { command, version }: Invocation,
  name: string,
  { judge }: World,
): readonly Decision[] {
  return judge.decisions({ state, command, facts: { suffix: name.slice(-5) }, version }, undefined);
}

function hasChanged({ invoked, answered }: Invocation, stream: StreamName, { history }: World): boolean {
  return history.steps(stream).some(({ landed }) => landed >= invoked && landed <= answered);
}

function answersSo(decision: Decision, state: State, outcome: WriteOutcome): boolean {
  if (!decision.ok) return !outcome.ok && outcome.rejection.reason === decision.rejection.reason;
  return decision.event === undefined && outcome.ok && state.kind === 'live' && state.revision === outcome.version;
}

/** Somebody else held the value at an instant at which the write would have taken it. */
function isTaken(invocation: Invocation, stream: StreamName, world: World): boolean {
  const { invoked, answered } = invocation;
  const { history, staleMs } = world;
  // A read may show each of them as it was so long ago.
  const periods = (of: StreamName): readonly Period[] =>
    periodsOf(history.steps(of)).map((period) => ({ ...period, until: period.until + staleMs }));
  const others = [...history.streams.keys()].filter((other) => other !== stream);
  return periods(stream).some(({ state, since, until }) => {
    if (since > answered || until < invoked) return false;
    const wanted = decisionsOn(state, invocation, nameOfStream(stream), world).flatMap((decision) =>
      decision.ok && decision.event !== undefined ? decision.event.values.map(({ hash }) => hash) : [],
    );
    return others.some((other) =>
      periods(other).some(
        (period) =>
          period.since <= Math.min(until, answered) &&
          period.until >= Math.max(since, invoked) &&
          period.state.kind === 'live' &&
          valuesOf(period.state.object).some(({ hash }) => wanted.includes(hash)),
      ),
    );
  });
}

type Period = { readonly state: State; readonly since: number; readonly until: number };

function periodsOf(steps: readonly Step[]): readonly Period[] {
  const after = steps.map((step, index) => ({
    state: step.after,
    since: step.landed,
    until: steps[index + 1]?.landed ?? Infinity,
  }));
  const first = { state: { kind: 'absent' }, since: -Infinity, until: steps[0]?.landed ?? Infinity } as const;
  return [first, ...after.filter((_period, index) => steps[index]?.recorded.endsAppend === true)];
}

/** The names a write may have been about: a drawn one is any of those there are to draw. */
function namesOf({ command }: Invocation): readonly string[] {
  if (command.type !== 'create') return [command.name];
  return [...new Set(suffixes.map((suffix) => nameOf(command.object, suffix) ?? ''))];
}
