import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { headers } from '../subject/server.ts';

/** Clients that send one request and stop reading when the response begins. */
export type SilentClients = { readonly size: number; close(): void };

const connectingMax = 100;

export async function openSilent(url: string, path: string, count: number): Promise<SilentClients> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const size = Math.min(connectingMax, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: size }, () => openOne(url, path)))));
  }
  return {
    size: sockets.length,
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function openOne(url: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const fields = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(`GET ${path} HTTP/1.1\r\n${fields}\r\n`);
    socket.once('data', (chunk) => {
      socket.pause();
      const status = chunk.toString('latin1').split('\r\n', 1)[0] ?? '';
      if (status.startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(`GET ${path} returned ${JSON.stringify(status)}`));
    });
    // Ignored after the promise is settled: the server is expected to disconnect a client that does not read.
    socket.on('error', reject);
  });
}
