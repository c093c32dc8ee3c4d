import { refuse } from '../../command/refuse.ts';
import type { Strategy } from '../../command/strategy.ts';
import type { TypeDeclaration } from '../../plugin/api/plugin.ts';
import { userAgentLengthMax } from '../../limits/requests.ts';
import { core, membersAt, subjectNameSchema, withStatus } from './type-members.ts';

/** Log-ins with a cookie (decision 7.4). Deleting a session logs the user out. */
export const sessionType: TypeDeclaration<never> = {
  ...core,
  kind: 'Session',
  singular: 'session',
  plural: 'sessions',
  schema: {
    type: 'object',
    readOnly: true,
    description: 'A log-in with a cookie: deleting it logs the user out.',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        description: 'The user of the session.',
        required: ['user'],
        additionalProperties: false,
        properties: { user: subjectNameSchema },
      },
      status: {
        type: 'object',
        description: 'The state of the log-in, set by the platform.',
        properties: {
          userUid: { type: 'string', readOnly: true, description: 'The uid of the user.' },
          issuer: {
            type: 'string',
            readOnly: true,
            description: 'The identity provider that authenticated the user, in place of a uid.',
          },
          passwordRevision: {
            type: 'integer',
            minimum: 0,
            readOnly: true,
            description: 'The version of the password used to log in: a new password ends the session.',
          },
          timesDisabled: {
            type: 'integer',
            minimum: 0,
            readOnly: true,
            description:
              'How often the user was disabled before this log-in: disabling the user ends the session for good.',
          },
          expiresAt: {
            type: 'string',
            format: 'date-time',
            readOnly: true,
            description: 'The time at which the session ends.',
          },
          lastUsedAt: {
            type: 'string',
            format: 'date-time',
            readOnly: true,
            description:
              'The time of the last recorded use: recorded at the log-in, and then at most every 10 minutes.',
          },
          address: {
            type: 'string',
            readOnly: true,
            description: 'The network address of the log-in.',
          },
          userAgent: {
            type: 'string',
            maxLength: userAgentLengthMax,
            readOnly: true,
            description: `The User-Agent header of the log-in, at most ${String(userAgentLengthMax)} characters.`,
          },
          token: {
            type: 'string',
            readOnly: true,
            description: 'The secret of the cookie: never stored, and never shown.',
          },
        },
      },
    },
  },
  indexes: [{ name: 'spec.user' }],
  printerColumns: [
    { name: 'User', type: 'string', pointer: '/spec/user' },
    { name: 'Last Used', type: 'date', pointer: '/status/lastUsedAt' },
    // `Expires` is not of the type `date`, because a date column shows the age of a time, and nothing for a time in the
    // future.
    { name: 'Expires', type: 'string', format: 'date-time', pointer: '/status/expiresAt' },
  ],
};

/** Refuses writes of clients and plugins, because only a log-in creates a session. */
export const sessionStrategy: Strategy = {
  complete: ({ before, after, subject, kept }) => {
    if (subject.kind !== 'platform')
      return refuse('forbidden', 'sessions are created by logging in: only the platform writes them');
    const { token: _neverStored, ...status } = membersAt(after, 'status');
    const object = withStatus(after, status);
    return before === undefined && kept === undefined
      ? { ok: true, object, withheld: { kind: 'token', prefix: 'ses' } }
      : { ok: true, object };
  },
};
