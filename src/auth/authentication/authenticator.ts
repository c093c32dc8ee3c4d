import { hash, randomBytes } from 'node:crypto';

import type { Clock } from '../../base/clock.ts';
import { visitor, type Subject, type UserSubject } from '../../command/subject.ts';
import { basicCacheEntriesMax, basicCacheMs, oidcLeewayMs } from '../../limits/access.ts';
import {
  unavailableNow,
  unauthorized,
  invalidPassword,
  type Authenticated,
  type NotAuthenticated,
} from './authenticated.ts';
import { CredentialUses, type RecordUse } from './credential-uses.ts';
import { basicHeader, basicPair, type BasicPair } from './basic-pair.ts';
import { isDigestOf, type UnfoldedWrites } from './unfolded-writes.ts';
import type { OidcVerifier } from './oidc.ts';
import type { Passwords } from '../passwords/password.ts';
import { PasswordLogIns, type LogIn, type PasswordVerified } from '../passwords/password-log-ins.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import type { Secrets } from './secrets.ts';
import { sessionCookie, sessionCookiesOf } from './session-cookie.ts';
import { makeRoom } from './make-room.ts';
import { SingleFlight } from './single-flight.ts';
import { isSessionGood, isCredentialValid, isTokenGood, passwordSubject, type Records } from './credential-validity.ts';
import { uidOfToken } from './token-text.ts';

export type AuthenticatorDependencies = {
  readonly secrets: Pick<Secrets, 'passwordHash' | 'tokenDigest'>;
  readonly passwords: Passwords;
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'token' | 'session' | 'subscribe'>;
  readonly clock: Clock;
  /** Verifies tokens of the identity provider; undefined without a provider. */
  readonly oidc?: OidcVerifier | undefined;
  /**
   * The issuer of the identity provider at which users log in with a browser. Sessions of another issuer are invalid.
   */
  readonly issuer?: string | undefined;
  /** Reads writes of other nodes that this node has not folded yet; undefined on a single node. */
  readonly unfoldedWrites?: Pick<UnfoldedWrites, 'refreshToken' | 'refreshObject'> | undefined;
  /** Records the use of a token or a session. The authenticator limits the rate of calls. */
  readonly recordUse: RecordUse;
};

/** The origin of a request. */
export type From = {
  readonly address: string;
  /** Returns a signal that aborts when the client disconnects. Called only for credentials that are not cached. */
  readonly signal?: (() => AbortSignal) | undefined;
};

/** The origin and the credentials of a request. */
export type Shown = From & { readonly authorization: string | undefined; readonly cookie: string | undefined };

type Verified = { readonly ok: true; readonly subject: UserSubject };
type Remembered = { readonly answer: Verified; readonly until: number };
type Question = From & {
  /** The key of the answer in the cache. */
  readonly key: string;
  readonly verify: (abandoned: AbortSignal) => Authenticated | Promise<Authenticated>;
  /** Returns whether to cache the answer; if absent, the answer is cached. */
  readonly isKept?: () => boolean;
};

const visiting: Authenticated = { ok: true, subject: visitor };
const badToken = unauthorized('the token is unknown, expired or revoked, or its owner is disabled or deleted');
const deadSession = unauthorized(`the cookie ${sessionCookie} names no active session: log in again`);

/**
 * Verifies credentials and returns their subject (decision 7). Verified credentials are cached by a keyed hash with a
 * new random key at each start, so no secret remains in memory. Each request checks the cached subject against the
 * tables, so a change takes effect with the next request.
 */
export class Authenticator {
  readonly #dependencies: AuthenticatorDependencies;
  readonly #logIns: PasswordLogIns;
  readonly #records: Records;
  readonly #key = randomBytes(32).toString('base64');
  /** Verified credentials by keyed hash, oldest first. */
  readonly #remembered = new Map<string, Remembered>();
  /** Verifications in progress, shared by simultaneous requests with the same credentials from one address. */
  readonly #pending = new SingleFlight<Authenticated>();
  readonly #uses: CredentialUses;

  constructor(dependencies: AuthenticatorDependencies) {
    this.#dependencies = dependencies;
    const { permissions, issuer } = dependencies;
    this.#records = {
      user: (name) => permissions.user(name),
      token: (uid) => permissions.token(uid),
      session: (uid) => permissions.session(uid),
      issuer,
    };
    this.#logIns = new PasswordLogIns(dependencies);
    this.#uses = new CredentialUses(dependencies);
    permissions.subscribe(({ credentials }) => {
      if (credentials.size > 0) this.#forget(credentials);
    });
  }

  /** Returns synchronously for cached credentials. */
  authenticate(shown: Shown): Authenticated | Promise<Authenticated> {
    const { authorization, address, signal } = shown;
    if (authorization !== undefined) return this.#recognizeHeader(authorization, shown);
    const [session, ...others] = sessionCookiesOf(shown.cookie);
    if (session === undefined) return visiting;
    if (others.length > 0) return unauthorized(`the request has several cookies named ${sessionCookie}: send one`);
    const key = this.#keyOf(`cookie ${session}`);
    return (
      this.#recall(key, address) ??
      this.#verifyOnce({ key, address, signal, verify: async () => this.#verifySession(session) })
    );
  }

  /** Returns whether the subject's credential is valid now. */
  isValid(subject: Subject): boolean {
    return isCredentialValid(this.#records, subject, this.#dependencies.clock.now());
  }

  /** Verifies a password within the limits of log-ins, for a log-in or for a change of the caller's own password. */
  async verifyPassword(username: string, password: string, from: From): Promise<PasswordVerified> {
    const answer = await this.#recognizePair({ username, password }, from);
    if (!answer.ok) return answer;
    const user = this.isValid(answer.subject) ? this.#dependencies.permissions.user(username) : undefined;
    return user === undefined ? invalidPassword : { ok: true, user };
  }

  /**
   * Returns the answer for a header, from the cache if possible. A verified password is cached for one address, so that
   * an address with too many failed log-ins cannot test passwords against the cache.
   */
  #recognizeHeader(authorization: string, from: From): Authenticated | Promise<Authenticated> {
    const source = authorization.startsWith('Bearer ') ? 'header' : `header ${from.address}`;
    const key = this.#keyOf(`${source} ${authorization}`);
    return this.#recall(key, from.address) ?? this.#verifyHeaderOnce(key, authorization, from);
  }

  /** A separate method, so that the hot path allocates no closures. */
  async #verifyHeaderOnce(key: string, authorization: string, { address, signal }: From): Promise<Authenticated> {
    return this.#verifyOnce({
      key,
      address,
      signal,
      verify: (abandoned) => this.#verifyHeader(authorization, { address, signal: () => abandoned }),
      // Unusual spellings are not cached, because they would evict entries of other clients.
      isKept: () => isUsual(authorization),
    });
  }

  #recognizePair({ username, password }: BasicPair, { address, signal }: From): Authenticated | Promise<Authenticated> {
    const length = String(username.length);
    const key = this.#keyOf(`pair ${address} ${length} ${username}:${password.normalize('NFC')}`);
    return (
      this.#recall(key, address) ??
      this.#verifyOnce({
        key,
        address,
        signal,
        verify: async (abandoned) => this.#verifyPair({ username, password, address, signal: abandoned }),
      })
    );
  }

  #keyOf(text: string): string {
    return hash('sha256', this.#key + text, 'base64');
  }

  /** Returns the cached answer; undefined if a verification is needed. */
  #recall(key: string, address: string): Authenticated | undefined {
    const { permissions, clock } = this.#dependencies;
    // Until the tables are loaded, they may lack users that exist.
    if (!permissions.isReady()) return unavailableNow;
    const known = this.#remembered.get(key);
    if (known === undefined) return undefined;
    const { subject } = known.answer;
    // After too many wrong guesses, the cache is not used, so that correct and wrong passwords get the same refusal.
    if (subject.credential.kind === 'password' && this.#logIns.isGuessed(subject.name, address)) return undefined;
    if (known.until > clock.monotonic() && this.isValid(subject)) return known.answer;
    this.#remembered.delete(key);
    return undefined;
  }

  async #verifyOnce({ key, address, signal, verify, isKept }: Question): Promise<Authenticated> {
    // Each address has its own limit of failures, so requests from different addresses do not share a verification.
    return this.#pending.run(
      `${key} ${address}`,
      async (abandoned) => {
        const answer = await verify(abandoned);
        if (answer.ok && answer.subject.kind === 'user' && isKept?.() !== false) this.#remember(key, answer.subject);
        return answer;
      },
      signal?.(),
    );
  }

  async #verifyHeader(authorization: string, from: From): Promise<Authenticated> {
    const pair = basicPair(authorization);
    if (pair !== undefined) return this.#recognizePair(pair, from);
    const bearer = /^bearer +([A-Za-z0-9._~+/=-]+)$/iu.exec(authorization)?.[1];
    if (bearer === undefined) return unauthorized('the Authorization header must be Basic or Bearer credentials');
    if (bearer.startsWith('pat_')) return this.#verifyToken(bearer);
    return (await this.#dependencies.oidc?.verify(bearer)) ?? badToken;
  }

  async #verifyPair(logIn: LogIn): Promise<Authenticated> {
    const verified = await this.#logIns.verify(logIn);
    if (!verified.ok) return verified;
    const subject = passwordSubject(verified.user);
    // The user may have changed while the hash was computed.
    return this.isValid(subject) ? { ok: true, subject } : invalidPassword;
  }

  async #verifyToken(text: string): Promise<Authenticated> {
    const { permissions, secrets, clock } = this.#dependencies;
    const uid = uidOfToken(text, 'pat');
    if (uid === undefined) return badToken;
    const found = permissions.token(uid);
    const unknown = found === undefined ? await this.#fromUnfolded(uid, text, badToken) : undefined;
    if (unknown !== undefined) return unknown;
    const token = found ?? permissions.token(uid);
    if (
      token === undefined ||
      !isTokenGood(this.#records, token, clock.now()) ||
      !isDigestOf(secrets.tokenDigest(uid) ?? '', text)
    )
      return badToken;
    const { name, roles, owner, ownerUid: userUid } = token;
    this.#uses.record('token', uid, name);
    return {
      ok: true,
      subject: { kind: 'user', name: owner, credential: { kind: 'token', uid, userUid, name, roles } },
    };
  }

  async #verifySession(text: string): Promise<Authenticated> {
    const { permissions, secrets, clock } = this.#dependencies;
    const uid = uidOfToken(text, 'ses');
    if (uid === undefined) return deadSession;
    const found = permissions.session(uid);
    const unknown = found === undefined ? await this.#fromUnfolded(uid, text, deadSession) : undefined;
    if (unknown !== undefined) return unknown;
    const session = found ?? permissions.session(uid);
    if (
      session === undefined ||
      !isSessionGood(this.#records, session, clock.now()) ||
      !isDigestOf(secrets.tokenDigest(uid) ?? '', text)
    )
      return deadSession;
    this.#uses.record('session', uid, session.name);
    return {
      ok: true,
      subject: { kind: 'user', name: session.user, credential: { kind: 'session', uid, userUid: session.userUid } },
    };
  }

  /**
   * Returns the refusal of a token or session that this node does not know; undefined if the node has now folded its
   * creation.
   */
  async #fromUnfolded(uid: string, text: string, refused: NotAuthenticated): Promise<NotAuthenticated | undefined> {
    const found = (await this.#dependencies.unfoldedWrites?.refreshToken(uid, text)) ?? 'never-issued';
    if (found === 'retry') return undefined;
    return found === 'undecided' ? unavailableNow : refused;
  }

  #remember(key: string, subject: UserSubject): void {
    const { clock } = this.#dependencies;
    const { credential } = subject;
    // `expiresAt` includes a leeway for clock differences. The time in the cache does not include the leeway.
    const forMs =
      credential.kind === 'oidc'
        ? Math.min(basicCacheMs, credential.expiresAt - oidcLeewayMs - clock.now())
        : basicCacheMs;
    if (forMs <= 0) return;
    makeRoom(this.#remembered, basicCacheEntriesMax);
    this.#remembered.set(key, { answer: { ok: true, subject }, until: clock.monotonic() + forMs });
  }

  /** Drops those cached credentials of `users` that are no longer valid. */
  #forget(users: Pick<ReadonlySet<string>, 'has'>): void {
    for (const [
      key,
      {
        answer: { subject },
      },
    ] of this.#remembered) {
      if (users.has(subject.name) && !this.isValid(subject)) this.#remembered.delete(key);
    }
  }
}

/** Returns whether the header has the usual spelling. Each credential has exactly one usual spelling. */
function isUsual(authorization: string): boolean {
  const pair = basicPair(authorization);
  return pair === undefined ? /^Bearer [^ ]/u.test(authorization) : basicHeader(pair) === authorization;
}
