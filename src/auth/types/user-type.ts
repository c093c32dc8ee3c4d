import type { Completion, Strategy } from '../../command/strategy.ts';
import type { Subject } from '../../command/subject.ts';
import {
  displayNameLengthMax,
  emailLengthMax,
  passwordLengthMax,
  passwordLengthMin,
  profileTextLengthMax,
} from '../../limits/access.ts';
import type { TypeDeclaration } from '../../plugin/api/plugin.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import { commonPasswordProblem } from '../passwords/common-passwords.ts';
import { withoutCopiedSecrets } from './applied-copy.ts';
import { refuseViolations, core, defined, membersAt, withStatus, type Members } from './type-members.ts';

/**
 * Members of users in the content management system Halo. The platform stores these members for Halo's clients.
 * `deprecated` marks the members without an effect, which the forms of the console do not offer.
 */
const profile = {
  avatar: { type: 'string', maxLength: profileTextLengthMax, description: 'The address of a picture.' },
  bio: { type: 'string', maxLength: profileTextLengthMax, description: 'A text about the user.' },
  phone: { type: 'string', maxLength: displayNameLengthMax, description: 'A telephone number.' },
  emailVerified: {
    type: 'boolean',
    deprecated: true,
    description: 'Stored for clients: the server does not verify addresses.',
  },
  loginHistoryLimit: {
    type: 'integer',
    minimum: 0,
    deprecated: true,
    description: 'Stored for clients: the server has no history of log-ins.',
  },
  registeredAt: {
    type: 'string',
    format: 'date-time',
    deprecated: true,
    description: 'Stored for clients: a time of registration.',
  },
  twoFactorAuthEnabled: {
    type: 'boolean',
    deprecated: true,
    description: 'Stored for clients: log-ins to this server have no second factor.',
  },
  totpEncryptedSecret: {
    writeOnly: true,
    deprecated: true,
    description:
      'Refused: every reader of users could read the secret, and log-ins to this server have no second factor.',
  },
} as const;

/** Users (decision 7.1). The user name is `metadata.name`. Passwords are write-only. */
export const userType: TypeDeclaration<never> = {
  ...core,
  kind: 'User',
  singular: 'user',
  plural: 'users',
  schema: {
    type: 'object',
    description: 'A user. The user name is metadata.name.',
    properties: {
      spec: {
        type: 'object',
        description: 'The account and the profile of the user.',
        additionalProperties: false,
        properties: {
          displayName: { type: 'string', maxLength: displayNameLengthMax, description: 'The name for display.' },
          email: { type: 'string', format: 'email', maxLength: emailLengthMax, description: 'An email address.' },
          disabled: { type: 'boolean', description: 'true: every log-in, session and token of the user is refused.' },
          ...profile,
          password: {
            type: 'string',
            format: 'password',
            minLength: 1,
            maxLength: passwordLengthMax,
            pattern: '^[^\\u0000-\\u001f\\u007f]*$',
            writeOnly: true,
            description:
              `At least ${String(passwordLengthMin)} characters, and not a common ` +
              'password. Never returned; unchanged when absent.',
          },
        },
      },
      status: {
        type: 'object',
        description: 'The state of the account, set by the platform.',
        properties: {
          permalink: { type: 'string', readOnly: true, description: 'Accepted from clients, and ignored.' },
          passwordRevision: {
            type: 'integer',
            minimum: 0,
            readOnly: true,
            description: 'Increases with every new password; absent without a password.',
          },
          passwordSetAt: {
            type: 'string',
            format: 'date-time',
            readOnly: true,
            description: 'The time of the last new password.',
          },
          timesDisabled: {
            type: 'integer',
            minimum: 0,
            readOnly: true,
            description: 'How often the user was disabled: earlier sessions stay invalid.',
          },
        },
      },
    },
  },
  indexes: [{ name: 'spec.displayName' }, { name: 'spec.email' }, { name: 'spec.disabled', type: 'boolean' }],
  printerColumns: [
    { name: 'Display Name', type: 'string', pointer: '/spec/displayName' },
    { name: 'Email', type: 'string', pointer: '/spec/email' },
    { name: 'Disabled', type: 'boolean', pointer: '/spec/disabled' },
    { name: 'Password Set', type: 'date', pointer: '/status/passwordSetAt', priority: 1 },
  ],
};

/**
 * Returns the finalizer that blocks the removal of a user until no binding names the user. Otherwise a later user of
 * the same name would inherit the roles.
 */
export function bindingsFinalizer(domain: string): string {
  return `rbac.authorization.${domain}/bindings`;
}

/**
 * Removes the password from the object before the event is created. The event contains only the revision of the hash in
 * the secret stream.
 */
export const userStrategy: Strategy = {
  heldBy: (domain) => [bindingsFinalizer(domain)],
  complete: (completion) => {
    const { after, subject, kept, now } = completion;
    const { password, ...spec } = membersAt(after, 'spec');
    if (spec['totpEncryptedSecret'] !== undefined) return refuseViolations(after, [unkeptSecret]);
    const object = withStatus(
      {
        ...after,
        ...(after['spec'] === undefined ? {} : { spec }),
        metadata: withoutCopiedSecrets(after.metadata, secretMembers),
      },
      statusOf(completion),
    );
    if (typeof password !== 'string') return { ok: true, object };
    if (!isOperators(subject) && Array.from(password).length < passwordLengthMin) {
      return refuseViolations(after, [
        { pointer: '/spec/password', detail: `must be at least ${String(passwordLengthMin)} characters` },
      ]);
    }
    const problem = commonPasswordProblem(password, after.metadata.name);
    if (problem !== undefined) return refuseViolations(after, [{ pointer: '/spec/password', detail: problem }]);
    if (kept === undefined) return { ok: true, object, withheld: { kind: 'password', text: password } };
    return {
      ok: true,
      object: withStatus(object, { ...statusOf(completion), passwordRevision: kept.revision, passwordSetAt: now }),
    };
  },
};

const unkeptSecret = {
  pointer: '/spec/totpEncryptedSecret',
  detail:
    'is not stored: every reader of users could read the secret, and log-ins to this server have no second factor',
};

/** The members that are removed from the copy of the user in an annotation. */
const secretMembers = [
  ['spec', 'password'],
  ['spec', 'totpEncryptedSecret'],
] as const;

/**
 * Returns whether the platform sets the first administrator's password. `ADMIN_PASSWORD` may be shorter than the
 * minimum.
 */
function isOperators(subject: Subject): boolean {
  return subject.kind === 'platform' && subject.part === 'administrator';
}

/** Returns the status to store. Only the platform's values of the status are accepted. */
function statusOf({ before, after, subject }: Completion): Members {
  const { passwordRevision, passwordSetAt, timesDisabled } = membersAt(
    subject.kind === 'platform' && after['status'] !== undefined ? after : before,
    'status',
  );
  const isNowDisabled = before !== undefined && !isDisabled(before) && isDisabled(after);
  return defined({
    passwordRevision,
    passwordSetAt,
    timesDisabled: isNowDisabled ? (typeof timesDisabled === 'number' ? timesDisabled : 0) + 1 : timesDisabled,
  });
}

export function isDisabled(user: ResourceObject): boolean {
  return membersAt(user, 'spec')['disabled'] === true;
}

export function passwordRevisionOf(user: ResourceObject): unknown {
  return membersAt(user, 'status')['passwordRevision'];
}
