import type { Clock } from '../base/clock.ts';
import { networkOf } from '../base/network-of.ts';
import { passwordLengthMax } from '../limits/access.ts';
import { nameLengthMax } from '../limits/objects.ts';
import { wrongPair, type NotAuthenticated } from './authenticated.ts';
import type { Elsewhere } from './elsewhere.ts';
import { KnownNetworks } from './known-networks.ts';
import { LoginFailures, type Attempt } from './login-failures.ts';
import type { Passwords } from './password.ts';
import type { PermissionReader, UserRecord } from './permission-reader.ts';
import type { Secrets } from './secrets.ts';
import { userKey } from './types/platform-types.ts';

export type PasswordVerified = { readonly ok: true; readonly user: UserRecord } | NotAuthenticated;

export type PasswordLogInsDependencies = {
  readonly secrets: Pick<Secrets, 'passwordHash'>;
  readonly passwords: Passwords;
  readonly permissions: Pick<PermissionReader, 'user'>;
  readonly clock: Clock;
  /** What other nodes have written and this one has not folded; undefined where there are none. */
  readonly elsewhere?: Pick<Elsewhere, 'hasNewsOf'> | undefined;
};

const busy: NotAuthenticated = { ok: false, reason: 'too-many-requests', detail: 'too many log-ins at once', retryAfterSeconds: 1 };

/**
 * User name and password → user, within the bounds of log-ins. An unknown user, one who is disabled or has no password, and
 * a wrong password get one answer at one cost.
 */
export class PasswordLogIns {
  readonly #dependencies: PasswordLogInsDependencies;
  readonly #failures = new LoginFailures();
  readonly #known = new KnownNetworks();

  constructor(dependencies: PasswordLogInsDependencies) {
    this.#dependencies = dependencies;
  }

  async verify(username: string, password: string, address: string): Promise<PasswordVerified> {
    // No user has such a name or password; what waits for a turn must not hold megabytes.
    if (username.length > nameLengthMax || password.length > passwordLengthMax * 2) return wrongPair;
    const { passwords, permissions, clock, elsewhere } = this.#dependencies;
    const network = networkOf(address);
    const attempt: Attempt = { username, network, isKnown: this.#known.has(permissions.user(username)?.uid, network) };
    const refused = this.#refuse(attempt);
    if (refused !== undefined) return refused;
    const first = await passwords.turns.run(attempt, async () => this.#begin(attempt, password)) ?? busy;
    const again = isWrong(first) && await elsewhere?.hasNewsOf(userKey, username) === true;
    const answer = again ? await passwords.turns.run(attempt, async () => this.#compare(username, password)) ?? busy : first;
    if (answer.ok) {
      this.#failures.takeBack(attempt, clock.monotonic());
      this.#known.note(answer.user.uid, network);
    }
    return answer;
  }

  /** The user has shown the right password from there. */
  note(uid: string, address: string): void {
    this.#known.note(uid, networkOf(address));
  }

  /** Looked at again once it is its turn: of many that came together, those before it may have failed. */
  async #begin(attempt: Attempt, password: string): Promise<PasswordVerified> {
    const refused = this.#refuse(attempt);
    if (refused !== undefined) return refused;
    this.#failures.begin(attempt, this.#dependencies.clock.monotonic());
    return this.#compare(attempt.username, password);
  }

  #refuse(attempt: Attempt): NotAuthenticated | undefined {
    const seconds = this.#failures.waitSeconds(attempt, this.#dependencies.clock.monotonic());
    if (seconds === 0) return undefined;
    return { ok: false, reason: 'too-many-requests', detail: 'too many failed log-ins', retryAfterSeconds: seconds };
  }

  async #compare(username: string, password: string): Promise<PasswordVerified> {
    const { permissions, secrets, passwords } = this.#dependencies;
    const user = permissions.user(username);
    const usable = user?.isDisabled === false && user.passwordRevision !== undefined ? user : undefined;
    const stored = usable?.passwordRevision === undefined ? undefined : secrets.passwordHash(usable.uid, usable.passwordRevision);
    const isRight = await passwords.verify(password, stored);
    return isRight && usable !== undefined ? { ok: true, user: usable } : wrongPair;
  }
}

function isWrong(answer: PasswordVerified): boolean {
  return !answer.ok && answer.reason === 'unauthorized';
}
