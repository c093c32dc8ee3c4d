import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { requestTurnMs, untimedRequestsMax } from '../../limits/requests.ts';

/**
 * Spreads simultaneous requests over several turns of the event loop. Node reads every connection with data in one
 * turn, so the first requests of a thousand connections would block the event loop until all are handled.
 */
export class RequestTurns {
  readonly #turns: EventLoopTurns;
  /** The number of requests since the last reset. `#soon` schedules a reset for a later turn. */
  #begun = 0;
  #isCounting = false;

  constructor(clock: Clock) {
    this.#turns = new EventLoopTurns(clock, requestTurnMs);
  }

  /**
   * Serves the request in this turn if the turn has time left, otherwise in a later turn unless the client has
   * disconnected.
   */
  begin(req: IncomingMessage, res: ServerResponse, serve: () => void): void {
    const turn = this.#soon(req);
    if (turn === undefined) serve();
    else
      void turn.then(() => {
        // Checks the socket too, because a response that waits for earlier pipelined responses is not closed with its
        // connection.
        if (!res.closed && !req.socket.destroyed) serve();
      });
  }

  /**
   * Counts a request. Returns undefined if the request may run now; otherwise resolves in a later turn that has time.
   * The first few requests after a reset run without a check of the clock. The next request schedules another reset.
   */
  #soon({ socket }: IncomingMessage): Promise<void> | undefined {
    this.#begun += 1;
    if (this.#begun <= untimedRequestsMax) return undefined;
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(() => {
        this.#isCounting = false;
        this.#begun = 0;
      });
    }
    return this.#turns.soon(socket.remoteAddress ?? '');
  }
}
