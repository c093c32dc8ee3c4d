import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { requestTurnMs, untimedRequestsMax } from '../../limits/requests.ts';

/**
 * Spreads requests that arrive together over several turns of the event loop. Node reads every connection with data in
 * one turn: the first requests of a thousand connections would hold the loop until all are handled.
 */
export class RequestTurns {
  readonly #turns: EventLoopTurns;
  /** Requests since the last turn that began after it was set to 0. */
  #begun = 0;
  #isCounting = false;

  constructor(clock: Clock) {
    this.#turns = new EventLoopTurns(clock, requestTurnMs);
  }

  /** Serves the request in this turn if it has time, otherwise in a later one, unless its client disconnects first. */
  begin(req: IncomingMessage, res: ServerResponse, serve: () => void): void {
    const turn = this.#soon(req);
    if (turn === undefined) serve();
    else
      void turn.then(() => {
        // A response in a queue of pipelined ones does not close with its connection.
        if (!res.closed && !req.socket.destroyed) serve();
      });
  }

  /** The first few requests cost no look at the clock, and an immediate only once for as many. */
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
