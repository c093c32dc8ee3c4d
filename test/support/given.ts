import type { Test } from 'tap';

import type { Command, Part, Preconditions } from '../../src/command/command.ts';
import { decide, type Decision } from '../../src/command/decide.ts';
import type { Facts } from '../../src/command/facts.ts';
import type { Propagation } from '../../src/command/propagation.ts';
import type { ObjectEvent } from '../../src/command/event.ts';
import { evolve, initialState, type State } from '../../src/command/evolve.ts';
import type { Rejection, RejectionReason } from '../../src/command/rejection.ts';
import { logPosition, streamRevision, type LogPosition } from '../../src/log/log.ts';
import type { JsonObject, JsonValue, ResourceObject } from '../../src/resource/object/object.ts';
import { facts, uid, valuesOf, widget } from './sample.ts';

/** A vocabulary for tests of decisions: the events of a stream, a command, and the expected event or rejection. */

export * from './sample.ts';

export function created(object: ResourceObject = widget()): ObjectEvent {
  return { type: 'ObjectCreated', object, values: valuesOf(object) };
}

export function updated(object: ResourceObject): ObjectEvent {
  return { type: 'ObjectUpdated', object, values: valuesOf(object) };
}

export function marked(object: ResourceObject): ObjectEvent {
  return { type: 'ObjectDeletionRequested', object, values: valuesOf(object) };
}

export function deleted(object: ResourceObject): ObjectEvent {
  return { type: 'ObjectDeleted', object, values: [] };
}

/** The two events of an append that marks `object` and removes it at once, because it has no finalizers. */
export function removed(object: ResourceObject): readonly [ObjectEvent, ObjectEvent] {
  return [marked(object), removalOf(object)];
}

export function removalOf(object: ResourceObject): ObjectEvent {
  return deleted({ ...object, metadata: { ...object.metadata, version: object.metadata.version + 1 } });
}

export function fenced(object?: ResourceObject): ObjectEvent {
  return object === undefined
    ? { type: 'NameFenced', values: [] }
    : { type: 'NameFenced', object, values: valuesOf(object) };
}

type Aim = { readonly name?: string; readonly part?: Part; readonly preconditions?: Preconditions };

function aimed({ name = 'w1', part = 'main', preconditions = {} }: Aim) {
  return { name, part, preconditions };
}

export function create(object: JsonObject): Command {
  return { type: 'create', object };
}

export function put(object: JsonObject, aim: Aim = {}): Command {
  return { type: 'replace', object, ...aimed(aim) };
}

export function merge(document: JsonValue, aim: Aim = {}): Command {
  return { type: 'patch', patch: { kind: 'merge', document }, ...aimed(aim) };
}

export function jsonPatch(operations: readonly JsonValue[], aim: Aim = {}): Command {
  return { type: 'patch', patch: { kind: 'json', operations }, ...aimed(aim) };
}

export function remove(preconditions: Preconditions = {}, name = 'w1', propagation?: Propagation): Command {
  return { type: 'delete', name, preconditions, propagation };
}

export function collect(of: string = uid, name = 'w1'): Command {
  return { type: 'collect', name, uid: of };
}

/** Returns the position of a revision. The two numbers differ, so that a test notices if the code confuses them. */
export function positionOf(revision: number): LogPosition {
  return logPosition(BigInt(1000 + 7 * revision));
}

export function stateAfter(events: readonly ObjectEvent[]): State {
  return events.reduce<State>(
    (state, event, revision) =>
      evolve(state, event, { revision: streamRevision(revision), position: positionOf(revision) }),
    initialState,
  );
}

type Assertions = Pick<Test, 'equal' | 'strictSame' | 'match' | 'fail' | 'ok'>;
type Given = (...events: readonly ObjectEvent[]) => {
  readonly when: (command: Command, changed?: Partial<Facts>) => Outcome;
};

/** Builds `given(...events).when(command).then(event)` with the assertions of the test `t`. */
export function givenFor(t: Assertions): Given {
  return (...events) => ({
    when: (command, changed = {}) => {
      const state = frozen(stateAfter(events));
      return new Outcome(t, decide(state, frozen(command), { ...facts, ...changed }));
    },
  });
}

class Outcome {
  readonly #t: Assertions;
  readonly decision: Decision;

  constructor(t: Assertions, decision: Decision) {
    this.#t = t;
    this.decision = decision;
  }

  /**
   * Expects exactly this event, and this removal if it is given. The result contains the last object, and its JSON
   * begins with apiVersion, kind and metadata, as the codec expects.
   */
  then(expected: ObjectEvent, removal?: ObjectEvent): this {
    if (this.#refused()) return this;
    const made = this.decision.ok && this.decision.event !== undefined ? this.decision : undefined;
    this.#t.strictSame([made?.event, made?.removal], [expected, removal]);
    const event = made?.removal ?? made?.event;
    if (event?.object !== undefined && this.decision.ok) {
      this.#t.strictSame(this.decision.object, event.object, 'the object answered is the one appended');
      this.#t.match(
        JSON.stringify(event.object),
        /^\{"apiVersion":"[^"]+","kind":"[^"]+","metadata":\{"/u,
        'apiVersion, kind and metadata come first',
      );
    }
    return this;
  }

  /** Expects that the write succeeds and appends nothing; the result is `object`. */
  thenNothing(object: ResourceObject): this {
    if (this.#refused() || !this.decision.ok) return this;
    this.#t.equal(this.decision.event, undefined, 'nothing is appended');
    this.#t.strictSame(this.decision.object, object);
    return this;
  }

  thenWarned(...warnings: readonly string[]): this {
    if (!this.#refused() && this.decision.ok) this.#t.strictSame(this.decision.warnings, warnings);
    return this;
  }

  /** Expects a rejection with this reason, and with violations at exactly these pointers. */
  thenRejected(reason: RejectionReason, ...pointers: readonly string[]): this {
    if (this.decision.ok) {
      this.#t.fail(`expected a rejection (${reason})`, { found: this.decision });
      return this;
    }
    const { rejection } = this.decision;
    this.#t.equal(rejection.reason, reason, JSON.stringify(rejection.detail));
    this.#t.strictSame([...new Set(pointersOf(rejection))].sort(), [...pointers].sort());
    return this;
  }

  thenDetail(detail: string | RegExp): this {
    if (this.decision.ok) this.#t.fail('expected a rejection');
    else this.#t.match(this.decision.rejection.detail, detail);
    return this;
  }

  #refused(): boolean {
    if (!this.decision.ok)
      this.#t.fail(`refused: ${this.decision.rejection.reason}: ${this.decision.rejection.detail}`);
    return !this.decision.ok;
  }
}

function pointersOf(rejection: Rejection): readonly string[] {
  return 'violations' in rejection ? rejection.violations.map(({ pointer }) => pointer) : [];
}

/** Freezes a value, so that `decide` fails if it changes its arguments. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen<unknown>(member);
  }
  return value;
}
