import { createHash } from 'node:crypto';
import { test, type Test } from 'tap';

import type { Command, Part, Preconditions } from '../../src/command/command.ts';
import { decide, type Decision } from '../../src/command/decide.ts';
import type { Facts } from '../../src/command/facts.ts';
import type { HeldValue, ObjectEvent } from '../../src/command/event.ts';
import { evolve, initialState, type State } from '../../src/command/evolve.ts';
import type { Rejection, RejectionReason } from '../../src/command/rejection.ts';
import { logPosition, streamRevision, type LogPosition } from '../../src/log/log.ts';
import type { JsonObject, JsonValue, Metadata, ResourceObject } from '../../src/resource/object.ts';
import type { ResourceType } from '../../src/resource/resource-type.ts';
import { compileType } from '../../src/resource/type-declaration.ts';

/** `given(...events).when(command).then(event)`: the past, a wish, and what comes of it. */

export const domain = 'svc.run';

const declaration = {
  group: 'example.com', version: 'v1', kind: 'Widget', singular: 'widget', plural: 'widgets',
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 100 },
          size: { type: 'integer' },
          serial: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
          free: true,
        },
        required: ['title'],
        additionalProperties: false,
      },
      status: { type: 'object', properties: { phase: { type: 'string' } }, additionalProperties: false },
    },
    required: ['spec'],
  },
  indexes: [{ name: 'spec.title' }, { name: 'spec.size', type: 'number' }, { name: 'spec.serial', unique: true }, { name: 'spec.tags', multi: true }, { name: 'status.phase' }],
  statusSubresource: false,
};

/** The sample type, with what `changes` says otherwise. */
export function widgetType(changes: Readonly<Record<string, unknown>> = {}): ResourceType {
  const compiled = compileType({ ...declaration, ...changes }, { plugin: 'example', bundled: false, domain });
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  return compiled.type;
}

export const widgets = widgetType();
export const widgetsWithStatus = widgetType({ statusSubresource: true });

export const earlier = '2026-01-01T00:00:00.000Z';
export const now = '2026-01-02T00:00:00.000Z';
export const uid = '11111111-1111-4111-8111-111111111111';
export const drawnUid = '22222222-2222-4222-8222-222222222222';

type Changes = { readonly metadata?: Partial<Metadata>; readonly spec?: JsonObject; readonly [member: string]: unknown };

/** A stored Widget: version 0 of `w1` unless `changes` says otherwise. */
export function widget({ metadata = {}, ...members }: Changes = {}): ResourceObject {
  return {
    apiVersion: 'example.com/v1', kind: 'Widget',
    metadata: { name: 'w1', uid, version: 0, generation: 1, creationTimestamp: earlier, ...metadata },
    spec: { title: 'One' },
    ...members,
  };
}

/** What a client sends: no server-managed members unless given. */
export function body({ metadata = {}, ...members }: { readonly metadata?: JsonValue; readonly [member: string]: JsonValue } = {}): JsonObject {
  const named = isObject(metadata) ? { name: 'w1', ...metadata } : metadata;
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: named, spec: { title: 'One' }, ...members };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The unique values a Widget holds, reckoned without the code under test. */
export function valuesOf(object: ResourceObject): readonly HeldValue[] {
  const spec = object['spec'] as Readonly<Record<string, unknown>> | undefined;
  const serial = spec?.['serial'];
  return typeof serial === 'string' ? [{ index: 'spec.serial', hash: createHash('sha256').update(serial).digest('hex') }] : [];
}

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

export function fenced(object?: ResourceObject): ObjectEvent {
  return object === undefined ? { type: 'NameFenced', values: [] } : { type: 'NameFenced', object, values: valuesOf(object) };
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

export function remove(preconditions: Preconditions = {}, name = 'w1'): Command {
  return { type: 'delete', name, preconditions };
}

export function collect(of: string = uid, name = 'w1'): Command {
  return { type: 'collect', name, uid: of };
}

export const facts: Facts = { type: widgets, now, uid: drawnUid, suffix: 'x7k2p', domain, origin: 'client', fieldValidation: undefined, subject: { kind: 'platform', part: 'test' } };

/** Positions are not revisions: a mistake of one for the other shows. */
export function positionOf(revision: number): LogPosition {
  return logPosition(BigInt(1000 + 7 * revision));
}

export function stateAfter(events: readonly ObjectEvent[]): State {
  return events.reduce<State>((state, event, revision) => evolve(state, event, { revision: streamRevision(revision), position: positionOf(revision) }), initialState);
}

type Assertions = Pick<Test, 'equal' | 'strictSame' | 'match' | 'fail' | 'ok'>;
type Given = (...events: readonly ObjectEvent[]) => { readonly when: (command: Command, changed?: Partial<Facts>) => Outcome };

/** A test of decisions: `body` gets the `given` that reports to it. */
export function behaviour(name: string, tell: (given: Given) => void): void {
  test(name, async (t) => {
    tell((...events) => ({
      when: (command, changed = {}) => {
        const state = frozen(stateAfter(events));
        return new Outcome(t, decide(state, frozen(command), { ...facts, ...changed }));
      },
    }));
  });
}

class Outcome {
  readonly #t: Assertions;
  readonly decision: Decision;

  constructor(t: Assertions, decision: Decision) {
    this.#t = t;
    this.decision = decision;
  }

  /** Exactly this event; its object is what is answered, and begins as the codec cuts it. */
  then(expected: ObjectEvent): this {
    if (this.#refused()) return this;
    const event = this.decision.ok ? this.decision.event : undefined;
    this.#t.strictSame(event, expected);
    if (event?.object !== undefined && this.decision.ok) {
      this.#t.strictSame(this.decision.object, event.object, 'the object answered is the one appended');
      this.#t.match(JSON.stringify(event.object), /^\{"apiVersion":"[^"]+","kind":"[^"]+","metadata":\{"/u, 'apiVersion, kind and metadata come first');
    }
    return this;
  }

  /** The write succeeds and appends nothing; `object` is answered. */
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

  /** Refused for this reason; where the rejection lists violations, at exactly these pointers. */
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
    if (!this.decision.ok) this.#t.fail(`refused: ${this.decision.rejection.reason}: ${this.decision.rejection.detail}`);
    return !this.decision.ok;
  }
}

function pointersOf(rejection: Rejection): readonly string[] {
  return 'violations' in rejection ? rejection.violations.map(({ pointer }) => pointer) : [];
}

/** Deciding must change nothing it is given. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen<unknown>(member);
  }
  return value;
}
