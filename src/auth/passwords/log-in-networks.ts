import { knownNetworksPerUserMax, knownNetworksUsersMax } from '../../limits/access.ts';

/** The latest networks from which each user has logged in since the start of this node, by uid. */
export class LogInNetworks {
  readonly #byUser = new Map<string, readonly string[]>();

  has(uid: string | undefined, network: string): boolean {
    return uid !== undefined && this.#byUser.get(uid)?.includes(network) === true;
  }

  record(uid: string, network: string): void {
    const others = (this.#byUser.get(uid) ?? []).filter((known) => known !== network);
    this.#byUser.delete(uid);
    const oldest = this.#byUser.size >= knownNetworksUsersMax ? this.#byUser.keys().next() : undefined;
    if (oldest?.done === false) this.#byUser.delete(oldest.value);
    this.#byUser.set(uid, [...others.slice(1 - knownNetworksPerUserMax), network]);
  }
}
