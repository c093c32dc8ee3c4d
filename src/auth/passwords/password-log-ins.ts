import type { Clock } from '../../base/clock.ts';
import { networkOf } from '../../base/network-of.ts';
import { passwordLengthMax } from '../../limits/access.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import { unavailableNow, invalidPassword, type NotAuthenticated } from '../authentication/authenticated.ts';
import type { UnfoldedWrites } from '../authentication/unfolded-writes.ts';
import type { HashRequest } from './password-hash-queue.ts';
import { LogInNetworks } from './log-in-networks.ts';
import { LogInFailures, type Attempt } from './log-in-limits.ts';
import type { Passwords } from './password.ts';
import type { PermissionReader, UserRecord } from '../../read/permission-reader.ts';
import type { Secrets } from '../authentication/secrets.ts';
import { userKey } from '../types/platform-types.ts';

export type PasswordVerified = { readonly ok: true; readonly user: UserRecord } | NotAuthenticated;

export type PasswordLogInsDependencies = {
  readonly secrets: Pick<Secrets, 'passwordHash'>;
  readonly passwords: Passwords;
  readonly permissions: Pick<PermissionReader, 'user'>;
  readonly clock: Clock;
  /** Finds writes of other nodes that this node has not folded. */
  readonly unfoldedWrites?: Pick<UnfoldedWrites, 'refreshObject'> | undefined;
};

export type LogIn = {
  readonly username: string;
  readonly password: string;
  readonly address: string;
  /** Aborts when the client no longer waits. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Verifies user names and passwords, within the limits of log-ins. The response and its cost are the same for an
 * unknown user, a disabled user, a user without a password, and a wrong password.
 */
export class PasswordLogIns {
  readonly #dependencies: PasswordLogInsDependencies;
  readonly #failures = new LogInFailures();
  readonly #known = new LogInNetworks();

  constructor(dependencies: PasswordLogInsDependencies) {
    this.#dependencies = dependencies;
  }

  async verify({ username, password, address, signal }: LogIn): Promise<PasswordVerified> {
    // No user can have such a name or password. The limit also keeps a queued request from using megabytes of memory.
    if (username.length > nameLengthMax || password.length > passwordLengthMax * 2) return invalidPassword;
    const { permissions, unfoldedWrites } = this.#dependencies;
    const network = networkOf(address);
    const attempt = {
      username,
      network,
      isKnown: this.#known.has(permissions.user(username)?.uid, network),
      signal,
    };
    const refused = this.#refuse(attempt);
    const guessedRight = this.#failures.guess(attempt, this.#dependencies.clock.monotonic());
    if (refused !== undefined) return refused;
    let takeBack = (): void => undefined;
    const first = await this.#inTurn(attempt, async () => {
      // Earlier attempts of the same client may have failed while the request waited.
      const late = this.#refuse(attempt);
      if (late !== undefined) return late;
      takeBack = this.#failures.begin(attempt, this.#dependencies.clock.monotonic());
      return this.#compare(username, password);
    });
    const again = isWrong(first) && (await unfoldedWrites?.refreshObject(userKey, username)) === true;
    const answer = again ? await this.#inTurn(attempt, async () => this.#compare(username, password)) : first;
    if (answer.ok) {
      takeBack();
      guessedRight();
      this.#known.record(answer.user.uid, network);
    }
    return answer;
  }

  /**
   * Returns whether this address has guessed so often that its passwords for this user must not be compared with the
   * cached one.
   */
  isGuessed(username: string, address: string): boolean {
    return this.#failures.isGuessed(username, address, this.#dependencies.clock.monotonic());
  }

  async #inTurn(turn: HashRequest, verify: () => Promise<PasswordVerified>): Promise<PasswordVerified> {
    const turned = await this.#dependencies.passwords.turns.run(turn, verify);
    if (turned.done) return turned.result;
    return turned.isDisconnected ? unavailableNow : { ...busy, retryAfterSeconds: turned.retryAfterSeconds };
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
    const stored =
      usable?.passwordRevision === undefined ? undefined : secrets.passwordHash(usable.uid, usable.passwordRevision);
    const isRight = await passwords.verify(password, stored);
    return isRight && usable !== undefined ? { ok: true, user: usable } : invalidPassword;
  }
}

const busy = { ok: false, reason: 'too-many-requests', detail: 'too many log-ins at once' } as const;

function isWrong(answer: PasswordVerified): boolean {
  return !answer.ok && answer.reason === 'unauthorized';
}
