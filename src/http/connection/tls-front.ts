import { constants } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, TLSSocket, type Server as TlsServer, type TlsOptions } from 'node:tls';

import type { Timer } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { headersTimeoutMs, requestTurnMs } from '../../limits/requests.ts';
import type { Edge } from '../send.ts';

/** A certificate and its key, both as PEM. */
export type ServerCertificate = {
  readonly certificate: string;
  readonly key: string;
};

/** The record type of a TLS handshake (RFC 8446, 5.1). No request in plain HTTP begins with this byte. */
const handshakeRecord = 22;

type Opening = {
  readonly socket: Socket;
  readonly deadline: Timer;
};

type FrontDependencies = Pick<Edge, 'clock' | 'log'> & {
  readonly server: Server;
  readonly refusePlain: (socket: Socket) => void;
};

/**
 * Terminates TLS in front of the HTTP server, on the same port. The HTTP server receives the decrypted connection as
 * another `connection` event. A handshake has the same time limit as the headers of a request.
 */
export class TlsFront {
  readonly #dependencies: FrontDependencies;
  readonly #terminator: TlsServer;
  /** Spreads handshakes over turns of the event loop: a handshake takes up to a millisecond. */
  readonly #turns: EventLoopTurns;
  /** Connections with an unfinished handshake, by the result of `placeOf`. */
  readonly #opening = new Map<string, Opening>();

  constructor(certificate: ServerCertificate, dependencies: FrontDependencies) {
    this.#dependencies = dependencies;
    this.#turns = new EventLoopTurns(dependencies.clock, requestTurnMs);
    this.#terminator = createServer(optionsOf(certificate));
    this.#terminator.on('secureConnection', (socket) => {
      const place = placeOf(socket);
      const opening = this.#opening.get(place);
      // The connection has been closed already.
      if (opening === undefined) return;
      opening.deadline.cancel();
      this.#opening.delete(place);
      dependencies.server.emit('connection', socket);
    });
    this.#terminator.on('tlsClientError', (error, socket) => {
      dependencies.log.debug('a TLS handshake failed', { error: error.message });
      socket.destroy();
    });
    const parsers = dependencies.server.listeners('connection');
    dependencies.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      if (socket instanceof TLSSocket) for (const parse of parsers) Reflect.apply(parse, dependencies.server, [socket]);
      else this.#open(socket);
    });
  }

  /** Sets the certificate for new connections. */
  use(certificate: ServerCertificate): void {
    this.#terminator.setSecureContext(optionsOf(certificate));
  }

  /** Closes connections with an unfinished handshake. */
  destroyOpening(): void {
    for (const { socket } of this.#opening.values()) socket.destroy();
  }

  #open(socket: Socket): void {
    const place = placeOf(socket);
    const deadline = this.#dependencies.clock.after(headersTimeoutMs, () => {
      socket.destroy();
    });
    this.#opening.set(place, { socket, deadline });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        deadline.cancel();
        if (this.#opening.get(place)?.socket === socket) this.#opening.delete(place);
      });
    const end = (): void => {
      socket.end();
    };
    socket.once('end', end).once('data', (first: Buffer) => {
      socket.off('end', end);
      if (first[0] === handshakeRecord) this.#handshake(socket, first);
      else this.#dependencies.refusePlain(socket);
    });
  }

  #handshake(socket: Socket, first: Buffer): void {
    socket.pause();
    socket.unshift(first);
    const turn = this.#turns.soon(socket.remoteAddress ?? '');
    if (turn === undefined) this.#terminator.emit('connection', socket);
    else
      void turn.then(() => {
        if (!socket.destroyed) this.#terminator.emit('connection', socket);
      });
  }
}

/** Returns the remote address, remote port and local address of a connection, as the key of the connection. */
function placeOf({ remoteAddress = '', remotePort = 0, localAddress = '' }: Socket): string {
  return `${remoteAddress} ${String(remotePort)} ${localAddress}`;
}

function optionsOf({ certificate, key }: ServerCertificate): TlsOptions {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // Prevents a client from repeating handshakes on one connection (TLS 1.2).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}
