import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A server under load. */
export type Target = {
  readonly url: string;
  /** The authority that must have issued the certificate, as PEM. Without it, every certificate is accepted. */
  readonly ca?: string | undefined;
};

/** Opens a connection. The socket of a https: URL is encrypted; `onReady` is called after the handshake. */
export function openSocket({ url, ca }: Target, onReady: () => void): Socket {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'https:';
  const address = {
    // A URL has an IPv6 address in brackets.
    host: hostname.replace(/^\[|\]$/gu, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    noDelay: true,
  };
  if (!isSecure) return connect(address, onReady);
  return connectTls({ ...address, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) }, onReady);
}
