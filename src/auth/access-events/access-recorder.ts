import type { AccessKind } from '../../command/event.ts';

/** A log-in, log-out or refusal. Never its password, token or cookie. */
export type Access = {
  readonly kind: AccessKind;
  readonly requestId: string;
  /** Empty if the connection has none. */
  readonly address: string;
  /** The name of an existing user; null: a name without a user, which may be a password in the wrong field. */
  readonly user?: string | null | undefined;
  /** The name of the personal access token. */
  readonly token?: string | undefined;
  /** The refused request. */
  readonly verb?: string | undefined;
  readonly path?: string | undefined;
};

/** Port: records accesses in the log. It neither waits nor throws. */
export type AccessRecorder = { record(access: Access): void };

export const unrecorded: AccessRecorder = { record: () => undefined };
