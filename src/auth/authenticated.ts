import type { Subject } from '../command/subject.ts';

/** What comes of the credentials a request shows. */
export type Authenticated = { readonly ok: true; readonly subject: Subject } | NotAuthenticated;

export type NotAuthenticated =
  | { readonly ok: false; readonly reason: 'unauthorized'; readonly detail: string }
  | { readonly ok: false; readonly reason: 'too-many-requests' | 'unavailable'; readonly detail: string; readonly retryAfterSeconds: number };

export function unauthorized(detail: string): NotAuthenticated {
  return { ok: false, reason: 'unauthorized', detail };
}

/** It may be right, which cannot be told now. */
export const undecided: NotAuthenticated = { ok: false, reason: 'unavailable', detail: 'cannot check credentials: the event log or the read models are not available', retryAfterSeconds: 1 };

/** Of an unknown user, one who is disabled or has no password, and a wrong password alike. */
export const wrongPair: NotAuthenticated = unauthorized('the user name or password is wrong');
