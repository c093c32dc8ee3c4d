import { test } from 'tap';

import {
  decideDependent,
  type Dependent,
  type OwnerState,
  type CollectionStep,
} from '../../../reconcilers/platform/garbage-collection.ts';
import { decideToken, type TokenStep } from '../../../reconcilers/platform/tokens.ts';
import { completeness, compareCondition } from '../../../reconcilers/platform/role-health.ts';
import { atOnce } from '../../../src/base/steps.ts';
import type { OwnerReference, ResourceObject } from '../../../src/resource/object/object.ts';
import { roleOf } from '../../../src/access/role-object.ts';

/** What the platform's reconcilers decide, row by row. */
const created = '2026-01-01T00:00:00.000Z';
const blocking: Dependent = { blocks: true, isCaught: false };
const idle: Dependent = { blocks: false, isCaught: false };
const caught: Dependent = { blocks: true, isCaught: true };

type Row = readonly [
  title: string,
  owners: readonly OwnerState[],
  given: { readonly marked?: readonly string[]; readonly dependents?: readonly Dependent[] },
  step: CollectionStep,
];

const release = (...uids: readonly string[]): CollectionStep => ({ type: 'release', uids: new Set(uids) });
const remove = (propagation?: 'Foreground'): CollectionStep => ({ type: 'delete', propagation });
const rows: readonly Row[] = [
  ['it has no owner', [], {}, { type: 'nothing' }],
  ['its owner lives', ['living'], {}, { type: 'nothing' }],
  ['its only owner is deleted', ['missing'], {}, remove()],
  ['all its owners are deleted', ['missing', 'missing'], { dependents: [blocking] }, remove()],
  ['one owner of two is deleted', ['missing', 'living'], {}, release('u0')],
  ["its owner's type is unknown", ['unknown'], {}, { type: 'undecided' }],
  ['one owner is deleted, one has an unknown type', ['unknown', 'missing'], {}, release('u1')],
  ['its owner waits for it', ['foreground'], {}, remove()],
  ['its owner waits for it, and it owns others', ['foreground'], { dependents: [idle] }, remove('Foreground')],
  ['one owner waits for it, one is deleted', ['missing', 'foreground'], { dependents: [idle] }, remove('Foreground')],
  ['one owner waits for it, one lives', ['living', 'foreground'], {}, release('u1')],
  ['its owner orphans it', ['orphaning'], {}, release('u0')],
  [
    'one owner orphans it, one is deleted: released from the first, then decided again',
    ['orphaning', 'missing'],
    {},
    release('u0'),
  ],
  ['it is marked, and its owner orphans it', ['orphaning'], { marked: [] }, release('u0')],
  ['it is marked already', ['missing'], { marked: [] }, { type: 'nothing' }],
  [
    'it is marked, and has a finalizer of a plugin',
    ['missing'],
    { marked: ['a/b'], dependents: [blocking] },
    { type: 'nothing' },
  ],
  ['it orphans its dependents', [], { marked: ['orphan'], dependents: [idle] }, { type: 'wait' }],
  ['it has orphaned all dependents', [], { marked: ['orphan', 'a/b'] }, { type: 'finish', finalizer: 'orphan' }],
  [
    'both finalizers: dependents are orphaned, none is deleted',
    [],
    { marked: ['foregroundDeletion', 'orphan'], dependents: [blocking] },
    { type: 'wait' },
  ],
  [
    'it waits for its blocking dependent',
    [],
    { marked: ['foregroundDeletion'], dependents: [idle, blocking] },
    { type: 'wait' },
  ],
  [
    'nobody blocks it',
    [],
    { marked: ['foregroundDeletion'], dependents: [idle] },
    { type: 'finish', finalizer: 'foregroundDeletion' },
  ],
  [
    'a blocking dependent waits for it',
    [],
    { marked: ['foregroundDeletion'], dependents: [caught] },
    { type: 'finish', finalizer: 'foregroundDeletion' },
  ],
  [
    'it waits, and so does its owner',
    ['foreground'],
    { marked: ['foregroundDeletion'], dependents: [blocking] },
    { type: 'wait' },
  ],
];

test('an object is judged by its owners and its dependents', async (t) => {
  for (const [title, owners, { marked, dependents = [] }, step] of rows) {
    const object: ResourceObject = {
      apiVersion: 'a/v1',
      kind: 'A',
      metadata: {
        name: 'a',
        uid: 'u',
        version: 0,
        generation: 1,
        creationTimestamp: created,
        ...(marked === undefined ? {} : { deletionTimestamp: created, finalizers: marked }),
        ownerReferences: owners.map((_state, index) => ({
          apiVersion: 'a/v1',
          kind: 'A',
          name: `n${String(index)}`,
          uid: `u${String(index)}`,
        })),
      },
    };
    const stateOf = ({ uid }: OwnerReference): OwnerState => owners[Number(uid.slice(1))]!;
    t.same(atOnce(decideDependent({ object, stateOf, dependents: () => dependents })), step, title);
  }
});

test('a judgement of many dependents can pause between any two of them', (t) => {
  const object: ResourceObject = {
    apiVersion: 'a/v1',
    kind: 'A',
    metadata: {
      name: 'a',
      uid: 'u',
      version: 0,
      generation: 1,
      creationTimestamp: created,
      deletionTimestamp: created,
      finalizers: ['foregroundDeletion'],
    },
  };
  let read = 0;
  function* dependents(): Iterable<Dependent | undefined> {
    for (; read < 1_000; read += 1) yield read % 2 === 0 ? idle : undefined;
    yield blocking;
  }
  const steps = decideDependent({ object, stateOf: () => 'living', dependents });
  for (let expected = 0; expected < 1_000; expected += 1) {
    t.equal(steps.next().done, false);
    t.equal(read, expected);
  }
  t.same(steps.next(), { done: true, value: { type: 'wait' } });
  t.end();
});

test('an owner that is named twice, once by a wrong name, is there', async (t) => {
  const reference = { apiVersion: 'a/v1', kind: 'A', uid: 'u1' };
  const object: ResourceObject = {
    apiVersion: 'a/v1',
    kind: 'A',
    metadata: {
      name: 'a',
      uid: 'u',
      version: 0,
      generation: 1,
      creationTimestamp: created,
      ownerReferences: [
        { ...reference, name: 'right' },
        { ...reference, name: 'wrong' },
      ],
    },
  };
  for (const living of ['right', 'wrong']) {
    const stateOf = ({ name }: OwnerReference): OwnerState => (name === living ? 'living' : 'missing');
    t.same(atOnce(decideDependent({ object, stateOf, dependents: () => [] })), { type: 'nothing' });
  }
});

const now = Date.parse('2026-06-01T00:00:00.000Z');
const tokens: readonly (readonly [title: string, token: Readonly<Record<string, unknown>>, step: TokenStep])[] = [
  ['it never expires', { spec: { owner: 'ann' }, status: { ownerUid: 'a1' } }, { type: 'nothing' }],
  [
    'it expires later',
    { spec: { owner: 'ann', expiresAt: '2026-06-01T00:01:00.000Z' }, status: { ownerUid: 'a1' } },
    { type: 'wait', forMs: 60_000 },
  ],
  [
    'it expires now',
    { spec: { owner: 'ann', expiresAt: '2026-06-01T00:00:00.000Z' }, status: { ownerUid: 'a1' } },
    { type: 'expire' },
  ],
  [
    'it is said to have expired',
    { spec: { owner: 'ann', expiresAt: '2026-05-01T00:00:00.000Z' }, status: { ownerUid: 'a1', phase: 'expired' } },
    { type: 'nothing' },
  ],
  [
    'its owner is gone',
    { spec: { owner: 'ben', expiresAt: '2026-05-01T00:00:00.000Z' }, status: { ownerUid: 'b1' } },
    { type: 'delete' },
  ],
  ["its owner's name is another's", { spec: { owner: 'ann' }, status: { ownerUid: 'a0' } }, { type: 'delete' }],
  ['an unknown owner', { spec: { owner: 'ben' } }, { type: 'nothing' }],
];

test('a token is judged by its time and its owner', async (t) => {
  for (const [title, members, step] of tokens) {
    const token: ResourceObject = {
      apiVersion: 'v1alpha1',
      kind: 'PersonalAccessToken',
      metadata: { name: 't', uid: 't', version: 0, generation: 1, creationTimestamp: created },
      ...members,
    };
    const world = { uidOf: (user: string) => (user === 'ann' ? 'a1' : undefined), now };
    t.same(decideToken(token, world), step, title);
    t.same(
      decideToken({ ...token, metadata: { ...token.metadata, deletionTimestamp: created } }, world),
      { type: 'nothing' },
      `${title}, and it is marked`,
    );
  }
});

test('a role is judged by the roles it names', async (t) => {
  const annotations = {
    'rbac.authorization.svc.run/dependencies': JSON.stringify([
      'there',
      ...Array.from({ length: 10 }, (_none, index) => `no${String(index)}`),
    ]),
  };
  const object: ResourceObject = {
    apiVersion: 'v1alpha1',
    kind: 'Role',
    metadata: {
      name: 'r',
      uid: 'r',
      version: 0,
      generation: 1,
      creationTimestamp: created,
      annotations,
      labels: { 'rbac.authorization.svc.run/aggregate-to-where': 'true' },
    },
    rules: [],
  };
  const role = roleOf(object, 'svc.run');
  const lacking = completeness(role, (name) => name === 'there');
  t.match(lacking, {
    status: 'False',
    reason: 'RolesMissing',
    message: new RegExp(
      '^depends on a role that does not exist: "no0".*"no7" and 2 more; is aggregated to a role that ' +
        'does not exist: "where"$',
      'u',
    ),
  });
  const whole = completeness(role, () => true);
  t.match(whole, { status: 'True', reason: 'RolesFound' });
  t.same(compareCondition(whole), { type: 'nothing' }, 'a role that never lacked one writes no condition');
  t.same(compareCondition(lacking), { type: 'wait', since: undefined });
  t.same(compareCondition(whole, { ...lacking, lastTransitionTime: created }), { type: 'report', since: undefined });
  t.same(compareCondition({ ...lacking, message: 'other' }, { ...lacking, lastTransitionTime: created }), {
    type: 'report',
    since: created,
  });
  t.same(compareCondition(lacking, { ...lacking }), { type: 'nothing' });
});
