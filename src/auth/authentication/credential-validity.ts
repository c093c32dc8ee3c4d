import { oidcPrefix } from '../../access/identity-provider.ts';
import type { Subject, UserSubject } from '../../command/subject.ts';
import type { PermissionReader, SessionRecord, TokenRecord, UserRecord } from '../../read/permission-reader.ts';

/** The records that determine whether a credential is valid: at a log-in, at each request and during a watch. */
export type Records = Pick<PermissionReader, 'user' | 'token' | 'session'> & {
  /** The trusted issuer of the identity provider's sessions; undefined if this node trusts none. */
  readonly issuer: string | undefined;
};

/**
 * Returns the user; undefined if the user was deleted, was replaced by another user of the same name, or is disabled.
 */
export function enabledUser(records: Pick<Records, 'user'>, name: string, uid: string): UserRecord | undefined {
  const user = records.user(name);
  return user?.uid === uid && !user.isDisabled ? user : undefined;
}

export function isTokenGood(records: Records, token: TokenRecord, now: number): boolean {
  if (token.isRevoked || (token.expiresAt !== undefined && token.expiresAt <= now)) return false;
  return enabledUser(records, token.owner, token.ownerUid) !== undefined;
}

/**
 * Whether the session is valid. A session of the identity provider is valid while its issuer is trusted, since the
 * names of users are those of one issuer. A new password ends all sessions of the user, including an attacker's
 * sessions. Disabling the user also ends all sessions, even if the user is enabled again.
 */
export function isSessionGood(records: Records, session: SessionRecord, now: number): boolean {
  if (session.expiresAt <= now) return false;
  if (session.userUid === undefined)
    return session.issuer !== undefined && session.issuer === records.issuer && session.user.startsWith(oidcPrefix);
  const user = enabledUser(records, session.user, session.userUid);
  return (
    user !== undefined &&
    user.passwordRevision === session.passwordRevision &&
    user.timesDisabled === session.timesDisabled
  );
}

/** `now` is in epoch milliseconds. */
export function isCredentialValid(records: Records, subject: Subject, now: number): boolean {
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

/**
 * Returns the subject of a verified password. The credential is valid while the user is enabled and has this password.
 */
export function passwordSubject({ name, uid, passwordRevision: revision }: UserRecord): UserSubject {
  return {
    kind: 'user',
    name,
    credential: { kind: 'password', uid, ...(revision === undefined ? {} : { revision }) },
  };
}
