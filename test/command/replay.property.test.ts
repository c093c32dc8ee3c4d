import fc from 'fast-check';
import { test } from 'tap';

import { deepEqual } from '../../src/base/json.ts';
import { validationErrorsMax } from '../../src/limits/requests.ts';
import type { Command, Part, Patch, Preconditions } from '../../src/command/command.ts';
import { decide, type Decision } from '../../src/command/decide.ts';
import type { Facts } from '../../src/command/facts.ts';
import { eventSchema, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { evolve, initialState, type State } from '../../src/command/evolve.ts';
import { answerBytes, decodeEvent, encodeEvent, objectAnswer } from '../../src/log/event-codec.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import type { JsonObject, JsonValue, ResourceObject } from '../../src/resource/object/object.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import {
  drawnUid,
  earlier,
  facts as sample,
  frozen,
  positionOf,
  uid,
  widgets,
  widgetsWithStatus,
  widgetType,
} from '../support/given.ts';
import { idOf } from '../support/id-of.ts';

/**
 * Sequences of commands, sane and hostile, against one name. For any input deciding returns, evolving accepts the
 * decision, the log's bytes decode to the same, and the object keeps the rules of its life.
 */
const runs = Number(process.env['PBT_RUNS'] ?? 1_500);

const text = fc.oneof(
  fc.constantFrom(
    '',
    'One',
    'w1',
    'f',
    'g',
    'Ä',
    '\ud800',
    '\0',
    '"metadata":{',
    ',"object":',
    '__proto__',
    uid,
    '1000',
    'example.com/x',
    'x'.repeat(300),
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const member = fc.oneof(
  fc.constantFrom(
    'apiVersion',
    'kind',
    'metadata',
    'spec',
    'status',
    'name',
    'finalizers',
    'labels',
    'title',
    'phase',
    'version',
    'resourceVersion',
    '__proto__',
    'constructor',
    'toString',
    'length',
    '0',
    '17',
    'a/b~c',
  ),
  text,
);

/** Own members whatever their names, as a parser makes them. */
const objectOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ readonly [name: string]: T }> =>
  fc.array(fc.tuple(member, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    fc.constantFrom<JsonValue>(null, true, 0, -0, 1, -1, 1.5, 1e21),
    text,
    fc.array(tie('json'), { maxLength: 3, depthIdentifier: 'json' }),
    objectOf(tie('json')),
  ),
})).json;

/** Mostly `sane`, now and then anything at all. */
const mostly = <T extends JsonValue>(sane: fc.Arbitrary<T>): fc.Arbitrary<JsonValue> =>
  fc.oneof({ weight: 60, arbitrary: sane }, { weight: 1, arbitrary: json });
/** Some of `members`, and rarely one more of any name. */
const some = (members: { readonly [name: string]: fc.Arbitrary<JsonValue> }): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      fc.record(members, { requiredKeys: [], noNullPrototype: true }),
      fc.oneof({ weight: 60, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: objectOf(json) }),
    )
    .map(([sane, more]) =>
      Object.fromEntries(
        [...Object.entries(sane), ...Object.entries(more)].flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        ),
      ),
    );

const finalizers = fc.oneof(fc.constant([]), fc.subarray(['f', 'g', 'example.com/h']));
const metadata = some({
  labels: mostly(fc.dictionary(fc.constantFrom('a', 'b', 'example.com/c'), fc.constantFrom('1', '2'), { maxKeys: 2 })),
  annotations: mostly(fc.dictionary(fc.constantFrom('a', 'b'), text, { maxKeys: 2 })),
  finalizers: mostly(finalizers),
  ownerReferences: mostly(
    fc.constantFrom<JsonValue>(
      [],
      [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }],
      [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', more: 1 }],
    ),
  ),
  deletionTimestamp: mostly(fc.constantFrom<JsonValue>(null, earlier)),
  generation: json,
});
const precise = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: some({
      version: mostly(fc.nat(6)),
      uid: mostly(fc.constantFrom(uid, drawnUid)),
      resourceVersion: mostly(fc.nat(6).map((revision) => positionOf(revision).toString())),
    }),
  },
);
const spec = some({
  size: mostly(fc.nat(3)),
  serial: mostly(fc.constantFrom('s1', 's2')),
  tags: mostly(fc.subarray(['x', 'y'])),
  free: json,
}).chain((members) => mostly(fc.constantFrom('One', 'Two')).map((title): JsonObject => ({ title, ...members })));
const status = some({ phase: mostly(fc.constantFrom('Ready', 'Done')) });

/** Texts that look like the places where the log's bytes are cut. */
const misleading = fc.constantFrom<JsonObject>(
  { 0: { metadata: { name: 'x' } } },
  { '00': { metadata: {} } },
  { object: { metadata: {} } },
  { values: [], '-1': ',"object":' },
);

const body: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        metadata,
        precise,
        mostly(spec),
        fc.option(mostly(status), { nil: undefined }),
        fc.oneof({ weight: 30, arbitrary: some({}) }, { weight: 1, arbitrary: misleading }),
      )
      .map(([meta, conditions, given, phase, more]): JsonObject => ({
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'w1', ...meta, ...conditions },
        spec: given,
        ...(phase === undefined ? {} : { status: phase }),
        ...more,
      })),
  },
  { weight: 1, arbitrary: objectOf(json) },
);

const pointer = fc.oneof(
  fc.constantFrom(
    '',
    '/spec',
    '/spec/title',
    '/spec/tags/-',
    '/spec/tags/0',
    '/spec/free',
    '/status',
    '/status/phase',
    '/metadata/labels',
    '/metadata/finalizers',
    '/metadata/finalizers/0',
    '/metadata/name',
    '/metadata/version',
    '/__proto__/x',
    '/constructor',
  ),
  fc
    .array(member, { maxLength: 3 })
    .map((tokens) => tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')),
  text,
);
const operation = mostly(
  fc.record(
    {
      op: mostly(fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test')),
      path: mostly(pointer),
      from: mostly(pointer),
      value: fc.oneof(json, fc.constantFrom<JsonValue>('Two', ['f'], { phase: 'Done' })),
    },
    { noNullPrototype: true },
  ),
);
const patch: fc.Arbitrary<Patch> = fc.oneof(
  fc.record({
    kind: fc.constant('merge' as const),
    document: mostly(
      some({
        metadata: mostly(fc.tuple(metadata, precise).map(([meta, conditions]) => ({ ...meta, ...conditions }))),
        spec: mostly(
          some({
            title: mostly(fc.constantFrom('One', 'Two')),
            serial: mostly(fc.constantFrom('s1', 's2')),
            free: json,
          }),
        ),
        status: mostly(status),
      }),
    ),
  }),
  fc.record({ kind: fc.constant('json' as const), operations: fc.array(operation, { maxLength: 3 }) }),
);
const preconditions: fc.Arbitrary<Preconditions> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ ifMatch: fc.oneof(fc.constant('any' as const), fc.array(fc.nat(6), { maxLength: 2 })) }),
      fc.record({ uid: fc.constantFrom(uid, drawnUid) }),
      fc.record({ resourceVersion: fc.nat(6).map((revision) => positionOf(revision).toString()) }),
    ),
  },
);
const part: fc.Arbitrary<Part> = fc.constantFrom('main', 'main', 'status');
const name = fc.constant('w1');

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('create' as const), object: body }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('replace' as const), name, object: body, part, preconditions }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('patch' as const), name, patch, part, preconditions }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), name, preconditions }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('find' as const), name }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('collect' as const),
      name,
      uid: fc.constantFrom(uid, drawnUid, drawnUid, drawnUid),
    }),
  },
);
const circumstances = fc.record({
  fieldValidation: fc.constantFrom(undefined, undefined, 'Strict' as const, 'Warn' as const, 'Ignore' as const),
  origin: fc.constantFrom('client' as const, 'client' as const, 'plugin' as const, 'platform' as const),
});
/** The fence is not a decision: it stands in the stream wherever another writer waited. */
const step = fc.oneof(
  { weight: 15, arbitrary: fc.record({ command, circumstances }) },
  { weight: 1, arbitrary: fc.constant('fence' as const) },
);
const types = {
  plain: widgets,
  status: widgetsWithStatus,
  open: widgetType({ schema: { type: 'object', additionalProperties: true } }),
};
const typeName = fc.constantFrom('plain' as const, 'status' as const, 'open' as const);

const recordedMetadata: EventMetadata = {
  actor: 'test',
  verb: 'test',
  requestId: 'r',
  time: earlier,
  schema: eventSchema,
  $correlationId: 'r',
};

test('deciding, evolving and the log agree on every history of an object', async (t) => {
  const seen = { emitted: 0, unchanged: 0, refused: 0, deleted: 0, removed: 0 };
  fc.assert(
    fc.property(typeName, fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }), (named, steps) => {
      let state: State = initialState;
      steps.forEach((next, index) => {
        const facts: Facts = {
          ...sample,
          type: types[named],
          now: new Date(Date.UTC(2026, 0, 2, 0, index)).toISOString(),
          ...(next === 'fence' ? {} : next.circumstances),
        };
        const decision = next === 'fence' ? fenced(state) : decide(frozen(state), frozen(next.command), facts);
        if (!decision.ok) {
          seen.refused += 1;
          checkRejection(decision);
          return;
        }
        if (decision.event === undefined) {
          seen.unchanged += 1;
          must(state.kind === 'live' && decision.object === state.object, 'a no-op answers with the stored object');
          return;
        }
        seen.emitted += 1;
        if (decision.event.type === 'ObjectDeleted') seen.deleted += 1;
        const before = state;
        state = advanced(before, decision.event);
        if (next === 'fence') return;
        checkChange(before, state, { command: next.command, facts, event: decision.event });
        state = removedFrom(state, decision);
        if (decision.removal !== undefined) seen.removed += 1;
        must(state.kind !== 'live' || state.object === decision.object, 'the object answered is the one that stands');
      });
    }),
    { numRuns: runs },
  );
  t.ok(
    seen.emitted > runs && seen.refused > runs && seen.unchanged > runs / 10 && seen.removed > runs / 100,
    JSON.stringify(seen),
  );
});

/** The state after the removal that goes with a decision: there is one exactly where nothing holds the object. */
function removedFrom(state: State, decision: Extract<Decision, { readonly event: ObjectEvent }>): State {
  const { removal, event, object } = decision;
  const isUnheld =
    state.kind === 'live' &&
    state.object.metadata.deletionTimestamp !== undefined &&
    state.object.metadata.finalizers === undefined;
  must((removal !== undefined) === isUnheld, 'a marked object without finalizers is removed at once');
  if (removal === undefined) return state;
  const { version: _marked, ...left } = event.object?.metadata ?? {};
  const { version: _removed, ...answered } = object.metadata;
  must(object === removal.object && deepEqual(left, answered), 'the removal shows the last state');
  return advanced(state, removal);
}

/** The next state, if fold and log agree on it. */
function advanced(state: State, event: ObjectEvent): State {
  const revision = streamRevision(state.kind === 'absent' ? 0 : state.revision + 1);
  const position = positionOf(revision);
  const next = evolve(state, event, { revision, position });
  must(
    event.type === 'ObjectDeleted' || event.object === undefined
      ? next.kind === 'deleted'
      : next.kind === 'live' && next.object === event.object,
    'the fold equals the decision',
  );
  if (event.object !== undefined) must(event.object.metadata.version === revision, 'the version is the revision');
  checkBytes(event, revision);
  return next;
}

function fenced(state: State): Decision {
  if (state.kind !== 'live')
    return {
      ok: true,
      event: { type: 'NameFenced', values: [] },
      entry: undefined,
      object: undefined as never,
      warnings: [],
    };
  const object = { ...state.object, metadata: { ...state.object.metadata, version: state.revision + 1 } };
  return {
    ok: true,
    event: { type: 'NameFenced', object, values: state.values ?? [] },
    entry: undefined,
    object,
    warnings: [],
  };
}

function checkBytes(event: ObjectEvent, revision: number): void {
  const position = positionOf(revision);
  const proposed = encodeEvent(idOf('one'), event, recordedMetadata);
  // A copy without the cached source, as after a restart.
  const place = { stream: streamName('object:widgets.example.com/w1'), revision: streamRevision(revision), position };
  const recorded = { ...proposed, data: new Uint8Array(proposed.data), ...place, endsAppend: true };
  const decoded = decodeEvent(recorded);
  must(deepEqual(decoded.event, event), 'the event reads back as itself');
  const unparsed = objectAnswer(recorded, position);
  must((unparsed === undefined) === (event.object === undefined), 'an event without an object has no answer');
  if (event.object === undefined) return;
  const answer = answerBytes(decoded, recorded.data, position.toString());
  must(unparsed?.equals(answer) === true, 'cut out unparsed the answer is the same');
  const expected = { ...event.object, metadata: { ...event.object.metadata, resourceVersion: position.toString() } };
  must(deepEqual(JSON.parse(answer.toString('utf8')), expected), 'the answer is the object and its resourceVersion');
  must(deepEqual(storedObject(answer), event.object), 'the answer reads back as the stored object');
}

function checkRejection({ rejection }: Decision & { readonly ok: false }): void {
  must(rejection.detail.length > 0, 'a rejection says why');
  if ('violations' in rejection)
    must(
      rejection.violations.length > 0 && rejection.violations.length <= validationErrorsMax,
      'an invalid object breaks a rule, and the reported ones are bounded',
    );
}

type Done = { readonly command: Command; readonly facts: Facts; readonly event: ObjectEvent };

function checkChange(before: State, after: State, { command: done, facts, event }: Done): void {
  const next = event.object!;
  must(facts.type.check(membersOf(next)).found.length === 0, 'the stored object obeys its schema');
  if (before.kind !== 'live') {
    must(
      event.type === 'ObjectCreated' &&
        next.metadata.generation === 1 &&
        next.metadata.uid === facts.uid &&
        next.metadata.creationTimestamp === facts.now,
      'a create is new in all that the server gives',
    );
    must(next.metadata.deletionTimestamp === undefined, 'no create is born marked');
    return;
  }
  const was = before.object;
  for (const kept of ['name', 'uid', 'creationTimestamp', 'generateName'] as const)
    must(next.metadata[kept] === was.metadata[kept], `${kept} stays`);
  const marks = event.type === 'ObjectDeletionRequested';
  must(
    next.metadata.deletionTimestamp === (marks ? facts.now : was.metadata.deletionTimestamp),
    'only a deletion marks, and nothing unmarks',
  );
  must(
    next.metadata.generation - was.metadata.generation === Number(marks || !deepEqual(desiredOf(next), desiredOf(was))),
    'generation counts changes of the desired state',
  );
  if (was.metadata.deletionTimestamp !== undefined)
    must(
      (next.metadata.finalizers ?? []).every((finalizer) => was.metadata.finalizers?.includes(finalizer) === true),
      'no finalizer comes under deletion',
    );
  if (event.type === 'ObjectUpdated')
    must(!deepEqual(numberless(next), numberless(was)), 'an update changes something');
  if (event.type === 'ObjectDeleted')
    must(
      after.kind === 'deleted' && was.metadata.deletionTimestamp !== undefined && was.metadata.finalizers === undefined,
      'only a marked object without finalizers is removed',
    );
  if ('part' in done) checkPart(done.part, { was, next, separate: facts.type.statusSubresource });
}

function checkPart(
  written: Part | 'scale',
  { was, next, separate }: { readonly was: ResourceObject; readonly next: ResourceObject; readonly separate: boolean },
): void {
  if (written === 'status')
    must(
      deepEqual({ ...numberless(next), status: 0 }, { ...numberless(was), status: 0 }),
      'the status path leaves the rest alone',
    );
  else if (separate) must(deepEqual(next['status'], was['status']), 'the main path leaves status alone');
}

function membersOf({
  apiVersion: _apiVersion,
  kind: _kind,
  metadata: _metadata,
  ...members
}: ResourceObject): Readonly<Record<string, unknown>> {
  return members;
}

function desiredOf(object: ResourceObject): Readonly<Record<string, unknown>> {
  const { status: _status, ...desired } = membersOf(object);
  return desired;
}

/** Without what every event changes. */
function numberless({
  metadata: { version: _version, generation: _generation, ...kept },
  ...members
}: ResourceObject): Readonly<Record<string, unknown>> {
  return { ...members, metadata: kept };
}

function must(holds: boolean, law: string): void {
  if (!holds) throw new Error(`broken: ${law}`);
}
