import { actorOf, type Subject } from '../command/subject.ts';

/** The origin of a request, used for limits that clients share. */
export type Client = {
  /** The user; undefined for a visitor. */
  readonly user: string | undefined;
  readonly address: string;
};

export function clientOf(subject: Subject, address: string): Client {
  return { user: subject.kind === 'visitor' ? undefined : actorOf(subject), address };
}

/** The key of a client's share of a limit: the user, or the address of a visitor. */
export function accountOf({ user, address }: Client): string {
  return user === undefined ? `address:${address}` : `user:${user}`;
}
