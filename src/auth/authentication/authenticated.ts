import type { Subject } from '../../command/subject.ts';

/** The result of checking a request's credentials. */
export type Authenticated = { readonly ok: true; readonly subject: Subject } | NotAuthenticated;

export type NotAuthenticated =
  | { readonly ok: false; readonly reason: 'unauthorized'; readonly detail: string }
  | {
      readonly ok: false;
      readonly reason: 'too-many-requests' | 'unavailable';
      readonly detail: string;
      readonly retryAfterSeconds: number;
    };

export function unauthorized(detail: string): NotAuthenticated {
  return { ok: false, reason: 'unauthorized', detail };
}

/** The refusal of credentials that this node cannot check now. The client should retry. */
export const unavailableNow: NotAuthenticated = {
  ok: false,
  reason: 'unavailable',
  detail:
    'cannot check credentials now: the event log, the read models or the keys of the identity provider are not ' +
    'available',
  retryAfterSeconds: 1,
};

/** The refusal of a wrong password, and also of an unknown user, a disabled user, and a user without a password. */
export const invalidPassword: NotAuthenticated = unauthorized('the user name or password is wrong');
