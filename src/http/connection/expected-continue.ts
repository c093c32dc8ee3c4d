import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { Connections } from './connections.ts';

type Serve = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Sends `100 Continue` to a request that expects it, once it is next on its connection. Node would put it into the
 * queue of a pipelined response, and its headers in front of it: the interim response would then be read as a part of
 * the body. A request that has arrived meanwhile needs none (RFC 9110, 10.1.1).
 */
export function continueInTurn(server: Server, connections: Connections, serve: Serve): void {
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    const earlier = connections.unanswered(req.socket);
    if (earlier === undefined) res.writeContinue();
    else
      earlier.once('close', () => {
        if (res.socket !== null && !res.headersSent && !req.complete) res.writeContinue();
      });
    serve(req, res);
  });
}
