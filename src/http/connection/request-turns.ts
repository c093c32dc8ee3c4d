import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { requestTurnMs, untimedRequestsMax } from '../../limits/requests.ts';

/**
 * Spreads simultaneous requests over several turns of the event loop. Otherwise the first requests of a thousand
 * connections would run in one turn.
 */
export class RequestTurns {
  readonly #turns: EventLoopTurns;
  /** The number of requests since the last reset. */
  #begun = 0;
  #isCounting = false;

  constructor(clock: Clock) {
    this.#turns = new EventLoopTurns(clock, requestTurnMs);
  }

  /**
   * Serves the request in this turn if the turn has time left, otherwise in a later turn. A request of a disconnected
   * client is not served later.
   */
  begin(req: IncomingMessage, res: ServerResponse, serve: () => void): void {
    const turn = this.#soon(req);
    if (turn === undefined) serve();
    else
      void turn.then(() => {
        // Also checks the socket: a response that waits for earlier responses is not closed with its connection.
        if (!res.closed && !req.socket.destroyed) serve();
      });
  }

  /**
   * Returns undefined if the request may run now; otherwise resolves in a later turn that has time. The first few
   * requests run without a check of the clock.
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
