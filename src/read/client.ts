import { actorOf, type Subject } from '../command/subject.ts';

/** Where a request comes from, for what is shared out among clients. */
export type Client = {
  /** Undefined for a visitor. */
  readonly user: string | undefined;
  readonly address: string;
};

export function clientOf(subject: Subject, address: string): Client {
  return { user: subject.kind === 'visitor' ? undefined : actorOf(subject), address };
}

/** By what a client's share is counted: visitors are nobody, so they share by address. */
export function accountOf({ user, address }: Client): string {
  return user === undefined ? `address:${address}` : `user:${user}`;
}
