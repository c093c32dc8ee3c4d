import { setImmediate as nextTurn } from 'node:timers/promises';

import { WebSocketServer } from 'ws';

/** The order to a bare `ws` server to send messages to every socket, one by one, as in the documentation of `ws`. */
export type PushOrder = { readonly frame: string; readonly count: number };

/**
 * The sender waits while any socket has more unsent bytes than this, so that the memory remains small. The limit is
 * high enough that a socket always has bytes to send.
 */
const bufferedBytesMax = 1_048_576;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, clientTracking: true });

async function push({ frame, count }: PushOrder): Promise<void> {
  const data = Buffer.from(frame);
  for (let sent = 0; sent < count; sent += 1) {
    for (const client of server.clients) client.send(data, { binary: false });
    await nextTurn();
    while ([...server.clients].some(({ bufferedAmount }) => bufferedAmount > bufferedBytesMax)) await nextTurn();
  }
}

process.on('message', (order: PushOrder) => {
  void push(order);
});
process.on('disconnect', () => {
  process.exit(0);
});
server.on('listening', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
