import type { RefusalReason } from '../../read/replay.ts';

/** The request cannot be served, for a reason that its sender or the operator can change. */
export class RefusedError extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, detail: string) {
    super(detail);
    this.name = 'RefusedError';
    this.reason = reason;
  }
}

/** The client of the replay has disconnected, or the server stops. */
export class StoppedError extends Error {
  constructor() {
    super('the replay was stopped');
    this.name = 'StoppedError';
  }
}
