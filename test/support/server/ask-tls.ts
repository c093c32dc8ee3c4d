import { X509Certificate } from 'node:crypto';
import { request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';

export type TlsAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly certificate: X509Certificate;
};

/**
 * Sends one request on a connection of its own, and verifies the server's certificate unless `options` disables that.
 */
export async function askTls(url: string, options: RequestOptions = {}, body = ''): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const req = request(url, { agent: false, ...options }, (res) => {
      if (!(res.socket instanceof TLSSocket)) throw new Error('the answer came without TLS');
      const certificate = new X509Certificate(res.socket.getPeerCertificate().raw);
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text, certificate });
      });
    });
    req.on('error', reject).end(body);
  });
}
