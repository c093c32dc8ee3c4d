import { networkOf } from '../base/network-of.ts';
import { actorOf, type Subject } from '../command/subject.ts';

/** The origin of a request, for limits that clients share. */
export type Client = {
  /** Undefined for a visitor. */
  readonly user: string | undefined;
  /** The network of the address (`networkOf`). */
  readonly address: string;
};

/** `address` is the client's IP address in canonical form, or its network. */
export function clientOf(subject: Subject, address: string): Client {
  return { user: subject.kind === 'visitor' ? undefined : actorOf(subject), address: networkOf(address) };
}

/** Returns the key of a client's share of a limit: the user, or the address of a visitor. */
export function accountOf({ user, address }: Client): string {
  return user === undefined ? `address:${address}` : `user:${user}`;
}
