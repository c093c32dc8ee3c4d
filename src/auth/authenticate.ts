import { hash, randomBytes } from 'node:crypto';

import type { Clock } from '../base/clock.ts';
import { basicCacheEntriesMax, basicCacheMs } from '../limits.ts';
import { LoginFailures } from './login-failures.ts';
import type { Passwords } from './password.ts';
import type { Secrets } from './secrets.ts';
import type { Authenticated } from './authenticated.ts';
import { visitor, type Subject } from '../command/subject.ts';

export type { Authenticated };

type Remembered = { readonly subject: Subject & { readonly kind: 'user' }; readonly until: number };

const visiting: Authenticated = { ok: true, subject: visitor };

/**
 * Credentials → subject (decisions 7.3, 7.6). A pair verified once is remembered under a keyed hash, so that the hot path
 * costs one SHA-256 and no password is kept in memory; the key is drawn at every start.
 */
export class Authenticator {
  readonly #secrets: Secrets;
  readonly #passwords: Passwords;
  readonly #clock: Clock;
  readonly #failures = new LoginFailures();
  readonly #key = randomBytes(32).toString('base64');
  /** Verified pairs by the keyed hash of their header, in the order they run out. */
  readonly #remembered = new Map<string, Remembered>();
  /** Pairs being verified: many requests of one client at once are one log-in. */
  readonly #pending = new Map<string, Promise<Authenticated>>();
  /** Grows when anything is forgotten: what was verified before is not remembered after. */
  #generation = 0;

  constructor({ secrets, passwords, clock }: { readonly secrets: Secrets; readonly passwords: Passwords; readonly clock: Clock }) {
    this.#secrets = secrets;
    this.#passwords = passwords;
    this.#clock = clock;
  }

  /** Answers at once where it can: only a pair that is not remembered is waited for. */
  authenticate(authorization: string | undefined, address: string): Authenticated | Promise<Authenticated> {
    if (authorization === undefined) return visiting;
    const key = hash('sha256', this.#key + authorization, 'base64');
    const known = this.#remembered.get(key);
    if (known !== undefined) {
      if (known.until > this.#clock.monotonic()) return { ok: true, subject: known.subject };
      this.#remembered.delete(key);
    }
    const pair = basicPair(authorization);
    if (pair === undefined) return { ok: false, reason: 'unauthorized', detail: 'the Authorization header must be Basic credentials' };
    const pending = this.#pending.get(key) ?? this.#logIn(pair, key, address).finally(() => { this.#pending.delete(key); });
    this.#pending.set(key, pending);
    return pending;
  }

  /** Forgets what was remembered of a user: to be called when the user changes. */
  forget(username: string): void {
    this.#generation += 1;
    for (const [key, { subject }] of this.#remembered) {
      if (subject.name === username) this.#remembered.delete(key);
    }
  }

  async #logIn({ username, password }: BasicPair, key: string, address: string): Promise<Authenticated> {
    const generation = this.#generation;
    if (this.#passwords.isBusy()) return { ok: false, reason: 'too-many-requests', detail: 'too many log-ins at once', retryAfterSeconds: 1 };
    const waitSeconds = this.#failures.begin(username, address, this.#clock.monotonic());
    if (waitSeconds > 0) return { ok: false, reason: 'too-many-requests', detail: 'too many failed log-ins', retryAfterSeconds: waitSeconds };
    let stored: string | undefined;
    try {
      stored = await this.#secrets.passwordHashOf(username);
    } catch {
      this.#failures.takeBack(username, address, this.#clock.monotonic());
      return { ok: false, reason: 'unavailable', detail: 'credentials cannot be checked now', retryAfterSeconds: 1 };
    }
    // One message and one cost for an unknown user and a wrong password.
    if (!await this.#passwords.verify(password, stored)) return { ok: false, reason: 'unauthorized', detail: 'the user name or password is wrong' };
    this.#failures.takeBack(username, address, this.#clock.monotonic());
    const subject = { kind: 'user', name: username, credential: { kind: 'password', uid: '' } } as const;
    if (generation === this.#generation) this.#remember(key, subject);
    return { ok: true, subject };
  }

  #remember(key: string, subject: Remembered['subject']): void {
    const oldest = this.#remembered.size >= basicCacheEntriesMax ? this.#remembered.keys().next() : undefined;
    if (oldest?.done === false) this.#remembered.delete(oldest.value);
    this.#remembered.set(key, { subject, until: this.#clock.monotonic() + basicCacheMs });
  }
}

type BasicPair = { readonly username: string; readonly password: string };

/** RFC 7617, UTF-8. Undefined for any other scheme and for what is malformed. */
function basicPair(authorization: string): BasicPair | undefined {
  const credentials = /^basic +([A-Za-z0-9+/_-]+={0,2})$/iu.exec(authorization)?.[1];
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || /[\0-\x1f\x7f]/u.test(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
