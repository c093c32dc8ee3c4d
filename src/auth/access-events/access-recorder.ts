import type { AccessKind } from '../../command/event.ts';

/** A log-in, log-out or refusal. An access never contains a password, a cookie or the text of a token. */
export type Access = {
  readonly kind: AccessKind;
  readonly requestId: string;
  /** The client's address; empty if unknown. */
  readonly address: string;
  /**
   * The name of an existing user; null for an unknown name, which is not recorded because the name may be a mistyped
   * password.
   */
  readonly user?: string | null | undefined;
  /** The name of the personal access token. */
  readonly token?: string | undefined;
  /** The verb of the refused request. */
  readonly verb?: string | undefined;
  readonly path?: string | undefined;
};

/** Records accesses in the log. `record` neither waits nor throws. */
export type AccessRecorder = { record(access: Access): void };

export const unrecorded: AccessRecorder = { record: () => undefined };
