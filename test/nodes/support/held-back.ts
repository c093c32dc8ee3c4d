import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A way to a log that lets so many bytes of it through, and the rest once it is let go. */
export type HeldBack = { readonly url: string; readonly letGo: () => void };

export async function holdBack(
  t: Test,
  { port, bytes }: { readonly port: number; readonly bytes: number },
): Promise<HeldBack> {
  const far = new Set<Socket>();
  const sockets = new Set<Socket>();
  let passed = 0;
  let isHeld = true;
  const server = createServer((near) => {
    const log = connect(port, '127.0.0.1');
    far.add(log);
    for (const socket of [near, log]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          near.destroy();
          log.destroy();
        });
    }
    near.pipe(log);
    log.on('data', (chunk: Buffer) => {
      near.write(chunk);
      passed += chunk.length;
      if (isHeld && passed > bytes) for (const socket of far) socket.pause();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `esdb://127.0.0.1:${String((server.address() as AddressInfo).port)}?tls=false`,
    letGo: () => {
      isHeld = false;
      for (const socket of far) socket.resume();
    },
  };
}
