import { test } from 'tap';

import type { Subject } from '../../../src/command/subject.ts';
import type { WriteOutcome } from '../../../src/command/command.ts';
import type { JsonObject } from '../../../src/resource/object/object.ts';
import { streamName } from '../../../src/log/log.ts';
import {
  Access,
  type AccessOptions,
  binding,
  everythingRules,
  platform,
  refusal,
  role,
  rule,
  session,
  token,
  user,
  type Plural,
} from '../../support/access.ts';
import { appendReferences } from '../../support/old-references.ts';
import { altered, shown } from '../../support/writing.ts';

/** `pat` may patch widgets, `del` delete them too, `fin` also hold back `shelf`; `root` may do everything. */
async function opened(t: Parameters<typeof Access.open>[0], options: AccessOptions = {}): Promise<Access> {
  const access = await Access.open(t, options);
  await access.given(
    role('super-role', everythingRules),
    role('authenticated'),
    role('patcher', [rule('get,create,update,patch', 'widgets')]),
    role('deleter', [rule('delete', 'widgets')], { dependencies: ['patcher'] }),
    role('holder', [rule('update', 'widgets/finalizers', { resourceNames: ['shelf'] })], { dependencies: ['deleter'] }),
    role('one', [rule('delete', 'widgets', { resourceNames: ['book'] })], { dependencies: ['patcher'] }),
    user('root', { password: 'the password' }),
    user('pat'),
    user('del'),
    user('fin'),
    user('one'),
    binding('roots', 'super-role', 'root'),
    binding('pats', 'patcher', 'pat'),
    binding('dels', 'deleter', 'del'),
    binding('fins', 'holder', 'fin'),
    binding('ones', 'one', 'one'),
    widget('book', [owner('shelf'), owner('box')]),
    widget('plain'),
    widget('held', [{ ...owner('shelf'), blockOwnerDeletion: true }]),
  );
  return access;
}

function owner(name: string, more: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', name, uid: `uid of ${name}`, ...more };
}

function widget(name: string, ownerReferences: readonly JsonObject[] = []): JsonObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, ...(ownerReferences.length === 0 ? {} : { ownerReferences }) },
    spec: { title: name },
  };
}

const blocking = (name: string, more: JsonObject = {}): JsonObject =>
  owner(name, { blockOwnerDeletion: true, ...more });

type Case = readonly [about: string, by: Subject | string, object: JsonObject, expected: string];

const replacements: readonly Case[] = [
  ['adding one without delete', 'pat', widget('plain', [owner('shelf')]), 'forbidden'],
  ['adding one with delete', 'del', widget('plain', [owner('shelf')]), 'ok'],
  ['adding oneself', 'pat', widget('plain', [owner('plain')]), 'forbidden'],
  [
    'adding one of a kind that differs in case',
    'pat',
    widget('plain', [owner('shelf', { kind: 'widget' })]),
    'forbidden',
  ],
  ['delete on another name', 'one', widget('plain', [owner('shelf')]), 'forbidden'],
  ['delete on this name', 'one', widget('book', []), 'ok'],
  ['leaving them as they are', 'pat', widget('book', [owner('shelf'), owner('box')]), 'ok'],
  ['another order', 'pat', widget('book', [owner('box'), owner('shelf')]), 'forbidden'],
  ['removing one', 'pat', widget('book', [owner('shelf')]), 'forbidden'],
  ['removing all', 'pat', widget('book'), 'forbidden'],
  ['naming one twice', 'pat', widget('book', [owner('shelf'), owner('box'), owner('box')]), 'forbidden'],
  ['another uid', 'pat', widget('book', [owner('shelf', { uid: 'x' }), owner('box')]), 'forbidden'],
  ['another flag', 'pat', widget('book', [owner('shelf', { controller: true }), owner('box')]), 'forbidden'],
  ['holding back without finalizers', 'del', widget('plain', [blocking('shelf')]), 'forbidden'],
  ['holding back with finalizers', 'fin', widget('plain', [blocking('shelf')]), 'ok'],
  ['holding back another', 'fin', widget('plain', [blocking('box')]), 'forbidden'],
  ['beginning to hold back', 'del', widget('book', [blocking('shelf'), owner('box')]), 'forbidden'],
  ['holding back as before, with another owner', 'del', widget('held', [blocking('shelf'), owner('box')]), 'ok'],
  [
    'holding back another by the uid that is held back already',
    'del',
    widget('held', [blocking('box', { uid: 'uid of shelf' })]),
    'forbidden',
  ],
  ['letting go', 'del', widget('held', [owner('shelf')]), 'ok'],
  [
    'holding back one of an unregistered kind',
    'fin',
    widget('plain', [blocking('shelf', { kind: 'widget' })]),
    'forbidden',
  ],
  ['the same by the super administrator', 'root', widget('plain', [blocking('shelf', { kind: 'widget' })]), 'ok'],
  ['of an unregistered group', 'fin', widget('plain', [blocking('shelf', { apiVersion: 'v1' })]), 'forbidden'],
  [
    'of another version of the type',
    'fin',
    widget('plain', [blocking('shelf', { apiVersion: 'example.com/v9' })]),
    'ok',
  ],
  [
    'a user that may write nothing',
    'fin',
    widget('plain', [blocking('root', { apiVersion: 'v1alpha1', kind: 'User' })]),
    'forbidden',
  ],
  ['a visitor', { kind: 'visitor' }, widget('plain', [owner('shelf')]), 'forbidden'],
  ['a plugin', { kind: 'plugin', name: 'p' }, widget('plain', [blocking('shelf')]), 'ok'],
  ['the platform', platform, widget('plain', [blocking('shelf')]), 'ok'],
];

test("a change of owners needs delete on the object, and a block needs the owner's finalizers", async (t) => {
  const access = await opened(t);
  for (const [about, by, object, expected] of replacements) {
    t.equal(refusal(await access.as(by).replace(object, { dryRun: true })), expected, about);
  }
});

test("a create needs no delete, and a block needs the owner's finalizers", async (t) => {
  const access = await opened(t);
  const creates: readonly Case[] = [
    ['an owner', 'pat', widget('new', [owner('nobody')]), 'ok'],
    ['one to be held back', 'pat', widget('new', [blocking('shelf')]), 'forbidden'],
    ['one among others', 'fin', widget('new', [owner('shelf'), blocking('shelf'), blocking('box')]), 'forbidden'],
    ['one that may be', 'fin', widget('new', [blocking('shelf')]), 'ok'],
    ['no owner, said so', 'pat', { ...widget('new'), metadata: { name: 'new', ownerReferences: [] } }, 'ok'],
  ];
  for (const [about, by, object, expected] of creates)
    t.equal(refusal(await access.as(by).create(object, { dryRun: true })), expected, about);
});

test('a refusal names the verb, the resource and the name', async (t) => {
  const access = await opened(t);
  const detail = (outcome: WriteOutcome): string => (outcome.ok ? '' : outcome.rejection.detail);
  t.equal(
    detail(await access.as('pat').replace(widget('plain', [owner('shelf')]))),
    'widgets.example.com "plain" is forbidden: User "pat" cannot delete resource "widgets" in API group ' +
      '"example.com": changing metadata.ownerReferences requires permission to delete the object',
  );
  t.equal(
    detail(await access.as('del').replace(widget('plain', [blocking('shelf')]))),
    'widgets.example.com "shelf" is forbidden: User "del" cannot update resource "widgets/finalizers" in API group ' +
      `"example.com": blockOwnerDeletion requires permission to update the owner's finalizers`,
  );
  t.equal(
    detail(await access.as('del').replace(widget('plain', [blocking('x', { kind: 'Shelf' })]))),
    'User "del" cannot update the finalizers of Shelf "x" of example.com/v1: no such type is registered, so only a ' +
      'super administrator may set blockOwnerDeletion',
  );
});

test('a right revoked before the write is decided again is not used', async (t) => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const access = await opened(t, {
    through: (log) =>
      altered(log, {
        append: async (stream, ...call) => {
          const [lost, isWidget] = [meanwhile, stream.startsWith('object:widgets.')];
          if (lost === undefined || !isWidget) return log.append(stream, ...call);
          meanwhile = undefined;
          await lost();
          return { ok: false, reason: 'conflict', actual: 'absent' };
        },
      }),
  });
  const unbind = { type: 'delete', name: 'dels', preconditions: {} } as const;
  const cause = { actor: 'x', verb: 'delete', requestId: 'r' };
  meanwhile = async () =>
    access.execute(access.type('rolebindings'), unbind, {
      cause,
      dryRun: false,
      fieldValidation: undefined,
      origin: 'client',
      subject: platform,
    });
  const patch = { metadata: { ownerReferences: [owner('shelf')] } };
  t.equal(refusal(await access.as('del').patch('widgets', 'plain', patch)), 'forbidden');
  t.equal(access.object('widgets', 'plain')?.metadata.ownerReferences, undefined);
});

test('objects of access control take no owners, from any writer', async (t) => {
  const access = await opened(t);
  await access.given(session('s', 'pat', { userUid: 'u', expiresAt: '2027-01-01T00:00:00.000Z' }));
  shown(await access.as('pat').create(token('t')));
  const objects: readonly (readonly [Plural, string])[] = [
    ['users', 'pat'],
    ['roles', 'one'],
    ['rolebindings', 'ones'],
    ['personalaccesstokens', 't'],
    ['sessions', 's'],
  ];
  const subjects: readonly (Subject | string)[] = ['root', 'pat', { kind: 'plugin', name: 'p' }, platform];
  for (const [plural, name] of objects) {
    for (const by of subjects) {
      t.equal(
        refusal(await access.as(by).patch(plural, name, { metadata: { ownerReferences: [owner('x')] } })),
        'invalid /metadata/ownerReferences',
        `${plural} by ${JSON.stringify(by)}`,
      );
    }
  }
  t.equal(
    refusal(
      await access.as(platform).create({ ...user('new'), metadata: { name: 'new', ownerReferences: [owner('x')] } }),
    ),
    'invalid /metadata/ownerReferences',
  );
});

test("an old log's owner references on such an object may be kept or removed", async (t) => {
  const access = await opened(t);
  const references = [
    { apiVersion: 'v1', kind: 'X', name: 'a', uid: 'a' },
    { apiVersion: 'v1', kind: 'X', name: 'b', uid: 'b' },
  ];
  await appendReferences(access.log, streamName('object:users/pat'), references);
  await access.settle(access.models.reached(await access.log.head(), { timeoutMs: 1_000 }));
  const root = access.as('root');
  t.equal(refusal(await root.patch('users', 'pat', { spec: { displayName: 'P' } })), 'ok');
  t.equal(
    refusal(await root.patch('users', 'pat', { metadata: { ownerReferences: [...references, owner('x')] } })),
    'invalid /metadata/ownerReferences',
  );
  t.equal(refusal(await root.patch('users', 'pat', { metadata: { ownerReferences: [references[1]!] } })), 'ok');
  t.equal(
    refusal(await root.patch('users', 'pat', { metadata: { ownerReferences: references } })),
    'invalid /metadata/ownerReferences',
    'what went does not come back',
  );
  t.equal(refusal(await root.patch('users', 'pat', { metadata: { ownerReferences: null } })), 'ok');
});
