import { refuse, type Refused } from '../../command/refuse.ts';
import type { Completed, Completion, Strategy } from '../../command/strategy.ts';
import type { Subject } from '../../command/subject.ts';
import { descriptionLengthMax, tokenRolesMax } from '../../limits/access.ts';
import type { TypeDeclaration } from '../../plugin/api/plugin.ts';
import { deepEqual } from '../../base/json.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import { withoutCopiedSecrets } from './applied-copy.ts';
import { refuseViolations, core, defined, membersAt, nameSchema, withStatus, type Members } from './type-members.ts';

/** Personal access tokens (decision 7.2). Only the response to the create contains the token's text. */
export const tokenType: TypeDeclaration<never> = {
  ...core,
  kind: 'PersonalAccessToken',
  singular: 'personalaccesstoken',
  plural: 'personalaccesstokens',
  shortNames: ['pat'],
  schema: {
    type: 'object',
    description: 'A token with which a program acts as its owner.',
    properties: {
      spec: {
        type: 'object',
        description: 'The owner, the rights and the end of the token.',
        additionalProperties: false,
        properties: {
          description: { type: 'string', maxLength: descriptionLengthMax, description: 'The purpose of the token.' },
          roles: {
            type: 'array',
            uniqueItems: true,
            maxItems: tokenRolesMax,
            items: nameSchema,
            description:
              'The roles of the owner to which the token is limited; all roles of the owner when absent. Immutable.',
          },
          expiresAt: {
            type: 'string',
            format: 'date-time',
            description: 'The time at which the token expires; never when absent. Immutable.',
          },
          revoked: { type: 'boolean', description: 'true revokes the token for good.' },
          owner: { type: 'string', readOnly: true, description: 'The creator of the token.' },
        },
      },
      status: {
        type: 'object',
        description: 'The state of the token, set by the platform.',
        properties: {
          ownerUid: {
            type: 'string',
            readOnly: true,
            description: 'The uid of the owner: the token gives no rights to a later user of the same name.',
          },
          phase: {
            enum: ['expired'],
            readOnly: true,
            description: '"expired" once the token has expired; absent before.',
          },
          lastUsedAt: {
            type: 'string',
            format: 'date-time',
            readOnly: true,
            description: 'The time of the last use; updated at most once a minute.',
          },
          token: {
            type: 'string',
            readOnly: true,
            description: 'The token itself: only in the response to the create, never stored.',
          },
        },
      },
    },
  },
  indexes: [{ name: 'spec.owner' }],
  printerColumns: [
    { name: 'Owner', type: 'string', pointer: '/spec/owner' },
    { name: 'Description', type: 'string', pointer: '/spec/description' },
    // `Expires` is not of the type `date`, because a date column shows the age of a time, and nothing for a time in the
    // future.
    { name: 'Expires', type: 'string', format: 'date-time', pointer: '/spec/expiresAt' },
    { name: 'Revoked', type: 'boolean', pointer: '/spec/revoked' },
    { name: 'Phase', type: 'string', pointer: '/status/phase' },
    { name: 'Last Used', type: 'date', pointer: '/status/lastUsedAt' },
  ],
};

export const tokenStrategy: Strategy = {
  complete: ({ after: { metadata, ...members }, ...completion }) => {
    const after = { ...members, metadata: withoutCopiedSecrets(metadata, [['status', 'token']]) };
    const { before } = completion;
    return before === undefined
      ? created({ ...completion, after })
      : updated({ ...completion, after }, membersAt(before, 'spec'));
  },
};

type Owner = {
  readonly owner: unknown;
  readonly ownerUid: unknown;
};

function created({ after, subject, kept, now }: Completion): Completed {
  const spec = membersAt(after, 'spec');
  const owned = ownerOf(subject, { owner: spec['owner'], ownerUid: membersAt(after, 'status')['ownerUid'] });
  if (!owned.ok) return owned;
  const { expiresAt } = spec;
  // The negated comparison also refuses a time that cannot be parsed (NaN).
  if (expiresAt !== undefined && !(timeOf(expiresAt) > Date.parse(now)))
    return refuseViolations(after, [{ pointer: '/spec/expiresAt', detail: 'must be in the future' }]);
  const object = withStatus(
    { ...after, spec: { ...spec, ...defined({ owner: owned.owner }) } },
    defined({ ownerUid: owned.ownerUid }),
  );
  return kept === undefined ? { ok: true, object, withheld: { kind: 'token', prefix: 'pat' } } : { ok: true, object };
}

/**
 * Returns the owner of a new token: the user that creates the token, or the owner that the platform names. The user
 * must use a password or a session, so that a stolen token cannot create another token.
 */
function ownerOf(subject: Subject, named: Owner): Refused | (Owner & { readonly ok: true }) {
  if (subject.kind === 'platform') return { ok: true, ...named };
  if (subject.kind !== 'user')
    return refuse('forbidden', 'a personal access token belongs to a user: only users create them');
  const { credential } = subject;
  switch (credential.kind) {
    case 'password':
      return { ok: true, owner: subject.name, ownerUid: credential.uid };
    case 'session':
      return credential.userUid === undefined
        ? refuse('forbidden', withoutTokens)
        : { ok: true, owner: subject.name, ownerUid: credential.userUid };
    case 'token':
      return refuse('forbidden', 'a personal access token cannot create another: log in with a password');
    case 'oidc':
      return refuse('forbidden', withoutTokens);
  }
}

const withoutTokens = 'users of an identity provider have no personal access tokens';

function updated({ before, after, subject }: Completion, stored: Members): Completed {
  const spec = membersAt(after, 'spec');
  const violations = [...changesOfFixedMembers(stored, spec)];
  if (stored['revoked'] === true && spec['revoked'] !== true)
    violations.push({ pointer: '/spec/revoked', detail: 'cannot be reset: a revoked token stays revoked' });
  if (violations.length > 0) return refuseViolations(after, violations);
  const { token: _shownOnce, ...status } = membersAt(
    subject.kind === 'platform' && after['status'] !== undefined ? after : before,
    'status',
  );
  const { owner, expiresAt } = stored;
  return { ok: true, object: withStatus({ ...after, spec: { ...spec, ...defined({ owner, expiresAt }) } }, status) };
}

function changesOfFixedMembers(stored: Members, spec: Members): readonly Violation[] {
  const isSame = {
    roles: deepEqual(stored['roles'], spec['roles']),
    expiresAt: stored['expiresAt'] === spec['expiresAt'] || timeOf(stored['expiresAt']) === timeOf(spec['expiresAt']),
    // The server sets the owner, so a write without the owner does not change the owner.
    owner: spec['owner'] === undefined || spec['owner'] === stored['owner'],
  };
  return Object.entries(isSame)
    .filter(([, same]) => !same)
    .map(([member]) => ({ pointer: `/spec/${member}`, detail: 'cannot be changed: create another token instead' }));
}

function timeOf(text: unknown): number {
  return typeof text === 'string' ? Date.parse(text) : NaN;
}

/** Returns the roles to which the token is limited; empty if the token has all roles of the owner. */
export function tokenRolesOf(token: ResourceObject): readonly string[] {
  const { roles } = membersAt(token, 'spec');
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
}
