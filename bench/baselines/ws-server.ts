import { setImmediate as nextTurn } from 'node:timers/promises';

import { WebSocketServer } from 'ws';

/** The order to a bare `ws` server to send messages to every socket, one by one, as the documentation of `ws` shows. */
export type PushOrder = { readonly frame: string; readonly count: number };

/** The unsent bytes of a socket from which the sender waits. So the sender is never idle, and memory remains small. */
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
