import type { Authenticated } from '../../src/auth/authentication/authenticated.ts';
import { Authenticator, type Shown } from '../../src/auth/authentication/authenticator.ts';
import type { OidcVerifier } from '../../src/auth/authentication/oidc.ts';
import { noHashCost, Passwords } from '../../src/auth/passwords/password.ts';
import type { SessionRecord, TokenRecord, UserRecord } from '../../src/read/permission-reader.ts';
import { Secrets } from '../../src/auth/authentication/secrets.ts';
import type { EventMetadata } from '../../src/command/event.ts';
import type { EventLog } from '../../src/log/log.ts';
import { FoldedSecrets } from '../support/memory/folded-secrets.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryPermissions } from '../support/memory/memory-permissions.ts';

export const metadata: EventMetadata = {
  actor: 'test',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: 1,
  $correlationId: 'r',
};

/** Real hashes of little cost, counted. */
export class CountingPasswords extends Passwords {
  verified = 0;

  constructor() {
    super(noHashCost);
  }

  override async verify(password: string, stored: string | undefined): Promise<boolean> {
    this.verified += 1;
    return super.verify(password, stored);
  }
}

/** Real secrets in a log in memory and an authenticator over them; the test defines the existing users. */
export function givenCredentials({
  log = new MemoryLog(),
  clock = new FakeClock(),
  oidc,
}: { readonly log?: EventLog; readonly clock?: FakeClock; readonly oidc?: OidcVerifier } = {}) {
  const passwords = new CountingPasswords();
  const folded = new FoldedSecrets();
  const secrets = new Secrets({ log: folded.through(log), clock, folded, passwords });
  const permissions = new MemoryPermissions();
  const used: string[] = [];
  const usedSessions: string[] = [];
  const authenticator = new Authenticator({
    secrets,
    passwords,
    permissions,
    clock,
    oidc,
    recordUse: { token: (name) => used.push(name), session: (name) => usedSessions.push(name) },
  });
  const authenticate = async (shown: Partial<Shown>): Promise<Authenticated> =>
    authenticator.authenticate({ authorization: undefined, cookie: undefined, address: '1.2.3.4', ...shown });
  const setPassword = async (name: string, password: string): Promise<UserRecord> => {
    const { uid } = permissions.user(name) ?? permissions.putUser(name, { uid: idOf(`user ${name}`) });
    const kept = await secrets.keep({ kind: 'password', text: password }, { uid, metadata });
    if (!kept.ok) throw new Error('not kept');
    return permissions.putUser(name, { passwordRevision: kept.kept.revision });
  };
  const drawToken = async (prefix: 'pat' | 'ses', uid: string): Promise<string> => {
    const kept = await secrets.keep({ kind: 'token', prefix }, { uid, metadata });
    if (!kept.ok || kept.kept.token === undefined) throw new Error('not kept');
    return kept.kept.token;
  };
  const makeToken = async (
    owner: string,
    changes: Partial<TokenRecord> = {},
  ): Promise<{ readonly record: TokenRecord; readonly text: string }> => {
    const name = changes.name ?? `token-of-${owner}`;
    const record = {
      name,
      uid: idOf(`token ${name}`),
      owner,
      ownerUid: permissions.user(owner)?.uid ?? '',
      roles: undefined,
      expiresAt: undefined,
      isRevoked: false,
      ...changes,
    };
    permissions.putToken(record);
    return { record, text: await drawToken('pat', record.uid) };
  };
  const makeSession = async (
    user: string,
    changes: Partial<SessionRecord> = {},
  ): Promise<{ readonly record: SessionRecord; readonly text: string }> => {
    const { uid: userUid, passwordRevision } = permissions.user(user) ?? { uid: '', passwordRevision: undefined };
    const record = {
      name: `session-of-${user}`,
      uid: idOf(`session ${user}`),
      user,
      userUid,
      passwordRevision,
      expiresAt: clock.now() + 1_000_000,
      ...changes,
    };
    permissions.putSession(record);
    return { record, text: await drawToken('ses', record.uid) };
  };
  return {
    clock,
    log,
    passwords,
    secrets,
    permissions,
    authenticator,
    used,
    usedSessions,
    authenticate,
    setPassword,
    makeToken,
    makeSession,
  };
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

export function bearer(text: string): string {
  return `Bearer ${text}`;
}

export function cookie(text: string): string {
  return `ledgerplane_session=${text}`;
}
