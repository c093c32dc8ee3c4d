import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { requestHeadersBytesMax } from '../../limits/requests.ts';
import { endConnection } from './connection-end.ts';
import { closeUnsent, type Connections } from './connections.ts';
import { problem, type Problem } from '../problem.ts';
import { problemAnswer } from '../problem-body.ts';
import type { Edge } from '../send.ts';

type Context = Pick<Edge, 'domain' | 'clock'> & {
  readonly connections: Connections;
  readonly drawRequestId: () => string;
};

/**
 * Ends connections with a request that is invalid HTTP or arrives too slowly. Writes the problem as the response,
 * unless the client could take the problem for the response to another request.
 */
export class MalformedRequests {
  readonly #context: Context;
  /** The connections with a handled error. Node emits another error for every further read. */
  readonly #reported = new WeakSet<Socket>();

  constructor(context: Context) {
    this.#context = context;
  }

  answer(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.#reported.has(socket)) {
      if (socket.readableEnded) socket.end();
      return;
    }
    this.#reported.add(socket);
    const { connections } = this.#context;
    const res = connections.unanswered(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (res === undefined) this.#end(error.code, socket, connections.isWithinRequest(socket));
    else if (res.req.complete) this.#endAfter(res, error.code, socket);
    else this.#interrupt(res, error.code, socket);
  }

  refusePlain(socket: Socket): void {
    socket.write(this.#bytesOf(problem('bad-request', 'this port accepts HTTPS only: use https:// in the URL')));
    endConnection(socket, this.#context.clock);
  }

  /**
   * Writes the problem after the last response. If another request has become complete by then, the connection is
   * closed instead. After a timeout, the connection is closed at once.
   */
  #endAfter(res: ServerResponse, code: string | undefined, socket: Socket): void {
    if (code === timedOut) {
      socket.destroy();
      return;
    }
    res.once('close', () => {
      if (this.#context.connections.unanswered(socket) === undefined && socket.writable) this.#end(code, socket, false);
      else socket.destroy();
    });
  }

  /** Handles an error within the body of the last request. The problem replaces a response that has not started. */
  #interrupt(res: ServerResponse, code: string | undefined, socket: Socket): void {
    if (res.socket !== socket || res.headersSent) {
      socket.destroy();
      return;
    }
    res.detachSocket(socket);
    closeUnsent(res);
    this.#end(code, socket, false);
  }

  #end(code: string | undefined, socket: Socket, isAnswered: boolean): void {
    const { clock } = this.#context;
    if (!isAnswered) socket.write(this.#bytesOf(malformedProblem(code)));
    endConnection(socket, clock);
  }

  #bytesOf(refused: Problem): Buffer {
    const { domain, clock, drawRequestId } = this.#context;
    const { status, headers, bytes } = problemAnswer(refused, {
      domain,
      path: '',
      accept: undefined,
      requestId: drawRequestId(),
      time: new Date(clock.now()).toISOString(),
    });
    const fields = [...headers, 'Content-Length', String(bytes.length), 'Connection', 'close'];
    const lines = fields.flatMap((field, index) =>
      index % 2 === 0 ? [`${field}: ${fields[index + 1] ?? ''}\r\n`] : [],
    );
    return Buffer.concat([Buffer.from(`HTTP/1.1 ${String(status)} \r\n${lines.join('')}\r\n`), bytes]);
  }
}

const tooLargeHeaders = `path and headers together must be at most ${String(requestHeadersBytesMax)} bytes`;
const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT';

function malformedProblem(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers-too-large', tooLargeHeaders);
    case timedOut:
      return problem('request-timeout', 'the request did not arrive in time');
    default:
      return problem('bad-request', 'the request is not valid HTTP');
  }
}
