import { connect, type TLSSocket } from 'node:tls';

/**
 * Performs full TLS 1.3 handshakes without resumption, one after another. Closes the connection after each handshake.
 */
export async function shakeHands(url: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url);
  for (let made = 0; made < count; made += 1) {
    await new Promise<void>((resolve, reject) => {
      const socket: TLSSocket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      socket.once('secureConnect', () => {
        if (socket.isSessionReused()) reject(new Error('a session was resumed'));
        socket.destroy();
      });
      socket.once('error', reject).once('close', () => {
        resolve();
      });
    });
  }
}
