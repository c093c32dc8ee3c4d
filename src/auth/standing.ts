import type { Subject, UserSubject } from '../command/subject.ts';
import type { PermissionReader, SessionRecord, TokenRecord, UserRecord } from './permission-reader.ts';

/** Whose credentials count now, by the tables alone: the same question at a log-in, at each request and in the midst of a watch. */
export type Records = Pick<PermissionReader, 'user' | 'token' | 'session'>;

/** The user, unless they are gone, another of the same name, or disabled. */
export function enabledUser(records: Records, name: string, uid: string): UserRecord | undefined {
  const user = records.user(name);
  return user?.uid === uid && !user.isDisabled ? user : undefined;
}

export function isTokenGood(records: Records, token: TokenRecord, now: number): boolean {
  if (token.isRevoked || (token.expiresAt !== undefined && token.expiresAt <= now)) return false;
  return enabledUser(records, token.owner, token.ownerUid) !== undefined;
}

/** Another password ends a session, so that whoever changes it after a theft has ended the thief's; being disabled does, however short it was. */
export function isSessionGood(records: Records, session: SessionRecord, now: number): boolean {
  if (session.expiresAt <= now) return false;
  const user = enabledUser(records, session.user, session.userUid);
  return user !== undefined && user.passwordRevision === session.passwordRevision && user.timesDisabled === session.timesDisabled;
}

/** Whether what a subject showed still counts. */
export function isStanding(records: Records, subject: Subject, now: number): boolean {
  if (subject.kind !== 'user') return true;
  const { name, credential } = subject;
  switch (credential.kind) {
    case 'password': {
      const user = enabledUser(records, name, credential.uid);
      return user !== undefined && (credential.revision === undefined || credential.revision === user.passwordRevision);
    }
    case 'token': {
      const token = records.token(credential.uid);
      return token !== undefined && token.owner === name && isTokenGood(records, token, now);
    }
    case 'session': {
      const session = records.session(credential.uid);
      return session !== undefined && session.user === name && isSessionGood(records, session, now);
    }
    case 'oidc':
      return credential.expiresAt > now;
  }
}

/** The user by the password that was verified: it counts as long as neither changes. */
export function loggedIn({ name, uid, passwordRevision: revision }: UserRecord): UserSubject {
  return { kind: 'user', name, credential: { kind: 'password', uid, ...(revision === undefined ? {} : { revision }) } };
}
